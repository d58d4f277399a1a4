"""Pages for programs: the API by example, and the lines that connect a language model."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

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


@require_safe
def api(request: HttpRequest) -> HttpResponse:
    """Calls of the public API, each with the answer of the corpus as it stands."""
    context = {"section": "measure", "examples": [_absolute(request, *example) for example in _examples()]}
    return render(request, "learn/api.html", context)


@require_safe
def mcp(request: HttpRequest) -> HttpResponse:
    """How a language model reads the corpus."""
    return render(request, "learn/mcp.html", {"section": "measure", "address": request.build_absolute_uri("/mcp")})


def _examples() -> list[tuple[str, str, str, str]]:
    """Calls with values that this corpus holds."""
    rows = selectors.board_rows(BoardQuery(limit=1))
    first: dict[str, Any] = rows[0] if rows else {}
    board = reverse("api:bench-leaderboard")
    asked = _query(task=first.get("task"), gpu_class=first.get("gpu_class"), limit=1)
    found = [
        ("rows", "The best row of a task on a device", "Filters as on the leaderboard; null is last.", board + asked),
        (
            "facets",
            "What can be asked for",
            "Each filter with its values and their number of rows.",
            reverse("api:bench-facets"),
        ),
        (
            "decisions",
            "The last decision",
            "The moderation log.",
            reverse("api:bench-moderation-log") + _query(limit=1),
        ),
    ]
    if first:
        run = reverse("api:bench-run", args=[first["run_id"]])
        found.insert(1, ("run", "A run with its items and trace", "Every derived figure, and the samples.", run))
    return found


def _query(**asked: Any) -> str:
    return "?" + urlencode({name: value for name, value in asked.items() if value is not None})


def _absolute(request: HttpRequest, anchor: str, title: str, words: str, href: str) -> Example:
    return Example(anchor, title, words, href, request.build_absolute_uri(href))
