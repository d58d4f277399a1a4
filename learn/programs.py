"""Pages for programs: the API by example, and the lines that connect a language model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import getdoc, signature
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from api.mcp import PATH
from api.mcp_answers import MAX_ROWS
from api.mcp_tools import TOOLS
from bench import selectors
from bench.selectors import BoardQuery


@dataclass(frozen=True, slots=True)
class Example:
    """A call that can be tried on the page: its answer is the API's own."""

    anchor: str
    title: str
    words: str
    href: str
    url: str


@dataclass(frozen=True, slots=True)
class Tool:
    """What a language model may call, in the words that it reads itself."""

    name: str
    words: str
    arguments: list[str]


@require_safe
def api(request: HttpRequest) -> HttpResponse:
    """Calls of the public API, each with the answer of the corpus as it stands."""
    context = {"section": "measure", "examples": [_absolute(request, *example) for example in _examples()]}
    return render(request, "learn/api.html", context)


@require_safe
def mcp(request: HttpRequest) -> HttpResponse:
    """How a language model reads the corpus, and what it may ask."""
    context = {
        "section": "measure",
        "address": request.build_absolute_uri(PATH),
        "tools": [_tool(tool) for tool in TOOLS],
        "max_rows": MAX_ROWS,
    }
    return render(request, "learn/mcp.html", context)


def _tool(tool: Callable[..., Any]) -> Tool:
    return Tool(tool.__name__, " ".join((getdoc(tool) or "").split()), list(signature(tool).parameters))


def _examples() -> list[tuple[str, str, str, str]]:
    """Calls with values that this corpus holds."""
    rows = selectors.board_rows(BoardQuery(limit=1))
    first: dict[str, Any] = rows[0] if rows else {}
    place = {"task": first.get("task"), "gpu_class": first.get("gpu_class")}
    found = [
        ("rows", "The best row of a task on a device", "Filters as on the leaderboard; null is last.", "leaderboard"),
        (
            "pick",
            "Which configuration to run",
            "Predicted joules, seconds and cost, each with its reasons.",
            "recommend",
        ),
        ("route", "What a router needs", "Accuracy, speed and the cost model of each row.", "routing-table"),
        ("sweeps", "What a setting does", "Rows of one machine that differ in one setting alone.", "sweeps"),
        ("facets", "What can be asked for", "Each filter with its values and their number of rows.", "facets"),
        ("decisions", "The last decision", "The moderation log.", "moderation-log"),
        ("corpus", "The download", "The whole corpus as files with checksums.", "corpus"),
    ]
    asked = {
        "rows": _query(**place, limit=1),
        "pick": _query(**place, objective="energy", price_per_kwh=0.3),
        "route": _query(**place, limit=1),
        "sweeps": _query(limit=1),
        "decisions": _query(limit=1),
    }
    calls = [
        (key, title, words, reverse(f"api:bench-{name}") + asked.get(key, "")) for key, title, words, name in found
    ]
    return [*calls[:4], *_of_row(first), *calls[4:]]


def _of_row(row: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """What lies under a row."""
    if not row:
        return []
    config, run = reverse("api:bench-config", args=[row["config_key"]]), reverse("api:bench-run", args=[row["run_id"]])
    return [
        ("config", "A configuration", "Settings, cost model, rows, sweeps and runs.", config),
        ("run", "A run with its items and trace", "Every derived figure, and the samples.", run),
    ]


def _bench(name: str) -> str:
    return reverse(f"api:bench-{name}")


def _query(**asked: Any) -> str:
    return "?" + urlencode({name: value for name, value in asked.items() if value is not None})


def _absolute(request: HttpRequest, anchor: str, title: str, words: str, href: str) -> Example:
    return Example(anchor, title, words, href, request.build_absolute_uri(href))
