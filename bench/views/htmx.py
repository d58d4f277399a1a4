"""Requests of htmx."""

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


class HtmxRequest(HttpRequest):
    """A request that has passed django-htmx's middleware."""

    htmx: HtmxDetails


def is_swap(request: HtmxRequest) -> bool:
    """Whether only a part of the page is wanted; a page that the browser's history restores is whole."""
    return bool(request.htmx) and not request.htmx.history_restore_request
