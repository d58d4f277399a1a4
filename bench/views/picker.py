"""Which model should I run."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from bench import selectors
from bench.forms import WishForm
from bench.pages import picker as picking
from bench.pages.board import marks
from bench.views.htmx import HtmxRequest, is_swap


@gzip_page
@require_safe
def picker(request: HtmxRequest) -> HttpResponse:
    """The measured configuration that fits best; for htmx only the answer."""
    form = WishForm(request.GET, facets=selectors.board_facets())
    template = "bench/picker.html" + ("#found" if is_swap(request) else "")
    response = render(request, template, {"section": "measure", "form": form, **_answer(form)})
    patch_vary_headers(response, ["HX-Request"])
    return push_url(response, request.path + form.link()) if is_swap(request) else response


def _answer(form: WishForm) -> dict[str, Any]:
    """The pick comes from what fits, the chart and table hold everything that was measured for the task."""
    wish = form.wish()
    fitting = selectors.recommend(wish)["results"]
    everything = selectors.recommend(form.wish(everything=True))["results"]
    chosen = picking.pick(fitting, wish)
    return {
        "wish": wish,
        "pick": chosen,
        "marks": marks(chosen.result["marks"], "pick") if chosen else [],
        "candidates": picking.candidates(everything, fitting, chosen),
        "plot": picking.plot(everything),
        "least_pct": form.cleaned_data.get("min_accuracy"),
        "nothing": picking.nothing(everything, fitting, wish),
        "ways": _ways(form, everything),
    }


def _ways(form: WishForm, everything: list[dict[str, Any]]) -> list[dict[str, str]]:
    """What to ask instead, where nothing fits."""
    asked = form.cleaned_data
    words = {"min_accuracy": "any accuracy", "memory": "any memory", "gpu_class": "any GPU"}
    lifted = [{"label": label, "href": form.link(**{name: None})} for name, label in words.items() if asked.get(name)]
    return lifted or [{"label": "start again", "href": "?"}] * (not everything)
