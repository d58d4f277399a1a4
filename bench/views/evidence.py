"""What lies under a figure: configurations, runs and decisions."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from accounts.models import User
from bench import selectors
from bench.forms import PageNumber
from bench.pages import configuration as configurations
from bench.pages import log
from bench.pages import run as runs
from bench.pages import sweeps as sweeping

ENTRIES_PER_PAGE = 100


@gzip_page
@require_safe
def run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """One run with its evidence; not published means not found, but for its owner and the maintainers."""
    viewer = request.user if isinstance(request.user, User) else None
    detail = selectors.run_detail(run_id, viewer=viewer)
    if detail is None:
        raise Http404("No run is published under this id.")
    rows = selectors.rows_of([detail.config_key], task=detail.task)
    return render(request, "bench/run.html", {"section": "measure", "rows": rows, **runs.context(detail)})


@gzip_page
@require_safe
def configuration(request: HttpRequest, config_key: str) -> HttpResponse:
    """One configuration over all its tasks, with its runs."""
    detail = selectors.config_detail(config_key)
    if detail is None or not detail["rows"]:
        raise Http404("No published run has this configuration.")
    links = [{"words": sweeping.title(sweep), "href": sweeping.href(sweep)} for sweep in detail["sweeps"]]
    sizes = {row["task"]: selectors.rank_sizes(row["task"]) for row in detail["rows"]}
    context = {"section": "measure", **configurations.context(detail, sizes), "sweeps": links}
    return render(request, "bench/configuration.html", context)


@require_safe
def moderation_log(request: HttpRequest) -> HttpResponse:
    """Every decision: what, when and why; never who submitted."""
    page = PageNumber(request.GET).number
    offset = ENTRIES_PER_PAGE * (page - 1)
    total = selectors.moderation_log_count()
    entries = selectors.moderation_log(limit=ENTRIES_PER_PAGE, offset=offset)
    context = {
        "section": "measure",
        "entries": [log.entry(entry) for entry in entries],
        "total": total,
        "newer": page - 1 if page > 1 else None,
        "older": page + 1 if offset + ENTRIES_PER_PAGE < total else None,
    }
    return render(request, "bench/moderation_log.html", context)
