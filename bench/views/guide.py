"""Pages that explain: how to measure, what a number means, what is checked."""

from asyncenergy_controller.wire import CONSENT_TEXT
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from bench.pages import gates, methodology


@require_safe
def measure(request: HttpRequest) -> HttpResponse:
    """How to measure one's own machine, and what is shared."""
    address = request.build_absolute_uri("/").rstrip("/")
    return render(request, "bench/measure.html", {"section": "measure", "consent": CONSENT_TEXT, "address": address})


@gzip_page
@require_safe
def methodology_page(request: HttpRequest) -> HttpResponse:
    """What a number means, with the limits and formulas as the code holds them."""
    return render(request, "bench/methodology.html", {"section": "learn", **methodology.context()})


@require_safe
def gates_page(request: HttpRequest) -> HttpResponse:
    """Every gate that a submission passes."""
    return render(request, "bench/gates.html", {"section": "learn", **gates.context()})
