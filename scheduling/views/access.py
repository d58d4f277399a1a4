"""Pages of an account: signed in, never cached, with times by the account's own clock."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast
from zoneinfo import ZoneInfo

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache

from accounts.models import User
from scheduling.errors import NotFound

P = ParamSpec("P")
AccountView = Callable[Concatenate[HttpRequest, User, P], HttpResponse]
Page = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def account_page(view: AccountView[P]) -> Page[P]:
    """The view gets the account; what it does not have is a page that says so."""

    @wraps(view)
    def page(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        account = cast(User, request.user)
        with timezone.override(ZoneInfo(account.timezone)):
            try:
                return view(request, account, *args, **kwargs)
            except NotFound as error:
                return render(request, "404.html", {"detail": error.detail}, status=error.status_code)

    return login_required(never_cache(page))
