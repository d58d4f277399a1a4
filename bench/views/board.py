"""The home page and the leaderboard."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from asyncenergy import clock
from bench import selectors
from bench.forms import ROWS_PER_PAGE, BoardFilter, ComparedRows
from bench.pages import board as boards
from bench.pages import compare as comparing
from bench.pages import likeness
from bench.pages import run as runs
from bench.pages.compare import FEWEST
from bench.presentation import counted
from bench.selectors import BoardQuery
from bench.views.htmx import HtmxRequest, is_swap
from scheduling.selectors.windows import todays_example

HOME_ROWS = 5


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What this is, and three steps with figures of the corpus as it stands."""
    tasks = selectors.board_facets()["task"]
    query = BoardQuery(task=tasks[0]["value"] if tasks else None, limit=HOME_ROWS)
    rows = selectors.board_rows(query) if tasks else []
    example, waiting_share = _example(rows)
    context = {
        "query": query,
        "board": boards.board(rows, config_lines=likeness.config_lines(rows)),
        "configurations": sum(task["count"] for task in tasks),
        "counts": selectors.corpus_counts(),
        "example": example,
        "cheapest": todays_example(clock.now()),
        "waiting_share": waiting_share,
    }
    return render(request, "bench/home.html", context)


def _example(rows: list[dict[str, Any]]) -> tuple[dict[str, Any] | None, float | None]:
    """The best of these rows, else of all, that came with a baseline, and the share of its energy spent on waiting."""
    found = next((row for row in rows if row["net_jpc"] is not None), None) or selectors.row_with_net()
    return found, runs.waiting_share(selectors.run_figures(found["run_id"])) if found else None


@gzip_page
@require_safe
def leaderboard(request: HtmxRequest) -> HttpResponse:
    """The ranked configurations of one task; for htmx only the rows."""
    form = BoardFilter(request.GET, facets=selectors.board_facets())
    template = "bench/leaderboard.html" + ("#swap" if is_swap(request) else "")
    response = render(request, template, _board_context(form))
    patch_vary_headers(response, ["HX-Request"])
    return push_url(response, request.path + form.link()) if is_swap(request) else response


def _board_context(form: BoardFilter) -> dict[str, Any]:
    query = form.query()
    rows = selectors.board_rows(query) if query.task else []
    total = selectors.board_count(query) if query.task else 0
    extra = form.cleaned_data.get("columns") or []
    return {
        "section": "measure",
        "form": form,
        "query": query,
        "total_text": counted(total, "configuration"),
        "board": boards.board(
            rows,
            sort=query.sort,
            rank_sizes=_rank_sizes(query.task),
            extra=extra,
            config_lines=likeness.config_lines(rows),
        ),
        "extra_columns": [boards.EXTRA_COLUMNS[name][0] for name in extra],
        "simulated": boards.board(selectors.simulated_rows(BoardQuery(limit=20))),
        "columns": boards.columns(query.sort, lambda sort: form.link(sort=sort)),
        "plain_columns": boards.plain_columns(),
        "tabs": [{"task": task, "href": _task_link(task), "is_current": task == query.task} for task in form.tasks],
        "newer": form.link(page=form.page_number - 1) if form.page_number > 1 else None,
        "older": form.link(page=form.page_number + 1) if query.offset + ROWS_PER_PAGE < total else None,
        "asked": list(form.active().values()),
        "relaxations": [] if rows else _relaxations(form),
    }


def _rank_sizes(task: str | None) -> dict[int, int]:
    return selectors.rank_sizes(task) if task else {}


def _task_link(task: str | None) -> str:
    return "?" + urlencode({"task": task})


def _relaxations(form: BoardFilter) -> list[dict[str, Any]]:
    """What dropping each filter alone would leave, and the way to drop all."""
    found = [(name, words, selectors.board_count(form.query(without=name))) for name, words in form.active().items()]
    near = [
        {"label": f"{counted(n, 'row')} without {words}", "href": form.link(**{name: None})}
        for name, words, n in found
        if n
    ]
    return [*near, {"label": "all rows of this task", "href": _task_link(form.query().task)}]


@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    """Rows of one task side by side."""
    form = ComparedRows(request.GET)
    complaint, task = form.complaint(), form.data.get("task", "")
    keys = [] if complaint else form.cleaned_data["row"]
    rows = selectors.rows_of(keys, task=task)
    if len(rows) < len(keys):
        complaint = f"{counted(len(keys) - len(rows), 'row')} of these can’t be found on {task}"
    context = {
        "section": "measure",
        "task": task,
        "board_href": reverse("bench:leaderboard") + (_task_link(task) if task else ""),
        "complaint": complaint,
        **({} if complaint else _columns(rows, task)),
    }
    return render(request, "bench/compare.html", context)


def _columns(rows: list[dict[str, Any]], task: str) -> dict[str, Any]:
    keys = [row["config_key"] for row in rows]
    comparison = comparing.comparison(rows, selectors.configs_of(keys))
    columns = [
        {
            "letter": comparing.letter(number),
            "line": line,
            "without": _compare_link(task, keys[:number] + keys[number + 1 :]) if len(keys) > FEWEST else None,
        }
        for number, line in enumerate(comparison.lines)
    ]
    return {"comparison": comparison, "columns": columns, "span": len(keys) + 1}


def _compare_link(task: str, keys: list[str]) -> str:
    return "?" + urlencode({"task": task, "row": keys}, doseq=True)
