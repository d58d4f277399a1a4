"""Energy data: what each setting does."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from bench import selectors
from bench.forms import SweepFilter
from bench.pages import sweeps as sweeping
from bench.views.htmx import HtmxRequest, is_swap

A_KIND = 2
ONE_KIND = 24


@gzip_page
@require_safe
def data(request: HtmxRequest) -> HttpResponse:
    """Every sweep as a small chart with its table; for htmx only those."""
    form = SweepFilter(request.GET, facets=selectors.board_facets())
    only = form.cleaned_data.get("kind") or None
    found = sweeping.shelves(_sweeps(form), only=only, most=ONE_KIND if only else A_KIND, link=form.kind_link)
    context = {
        "section": "measure",
        "form": form,
        "shelves": [shelf for shelf in found if shelf.charts],
        "missing": [shelf for shelf in found if not shelf.charts],
        "asked": form.active(),
        "only": only,
    }
    response = render(request, "bench/data.html" + ("#shelves" if is_swap(request) else ""), context)
    patch_vary_headers(response, ["HX-Request"])
    return push_url(response, request.path + form.link()) if is_swap(request) else response


def _sweeps(form: SweepFilter) -> list[sweeping.Sweep]:
    query = form.query()
    wanted = {name: value for name, value in form.named().items() if value}
    again = [one for one in selectors.repetitions() if all(one[name] == value for name, value in wanted.items())]
    return [*selectors.sweep_list(query), *again]
