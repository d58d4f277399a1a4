"""Makes public answers ahead of their readers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic_core import to_json

from bench.models import BoardConfig, StoredAnswer
from bench.recommendation import OBJECTIVES, Wish
from bench.selectors import answers, picks
from bench.selectors.board import BoardQuery, BoardStamp, board_rows
from bench.selectors.facets import FACETS
from bench.selectors.routing import routing_row
from bench.selectors.snapshot import snapshot

MAX_QUERY = 255
EVERYTHING = 1_000_000
Named = tuple[str, str, answers.Answer]


def answers_store(stamp: BoardStamp) -> None:
    """Store the answers to the default query and to queries of one filter, in place of the old ones."""
    rows, version = board_rows(BoardQuery(limit=EVERYTHING)), stamp.version
    whole: list[Named] = [
        ("facets", "", answers.facets_of(version)),
        ("bench-data", "", answers.Answer(to_json(snapshot()))),
    ]
    made = [*_pages(rows, version), *_picks(rows, version), *whole]
    StoredAnswer.objects.all().delete()
    StoredAnswer.objects.bulk_create(
        (
            StoredAnswer(name=name, query=query, token=stamp.token, body=answer.body, page=answer.page)
            for name, query, answer in made
            if len(query) <= MAX_QUERY
        ),
        batch_size=50,
    )


def _pages(rows: Sequence[Mapping[str, Any]], version: int) -> Iterator[Named]:
    """Every row is written once, and stands in each page that shows it."""
    configs = BoardConfig.objects.in_bulk()
    routed = [routing_row(row, configs[row["config_key"]].payload) for row in rows]
    written = {"leaderboard": [to_json(row) for row in rows], "routing-table": [to_json(row) for row in routed]}
    for query in _single_filters(rows):
        shown = [i for i, row in enumerate(rows) if _matches(row, query)]
        for name, texts in written.items():
            page = answers.page_of((texts[i] for i in shown[: query.limit]), len(shown), query, version)
            yield name, answers.canonical(query), page


def _single_filters(rows: Iterable[Mapping[str, Any]]) -> Iterator[BoardQuery]:
    default = BoardQuery(limit=answers.PAGE_ROWS)
    yield default
    for name, column in FACETS.items():
        for value in sorted({row[column] for row in rows} - {None}):
            yield replace(default, **{name: value})


def _matches(row: Mapping[str, Any], query: BoardQuery) -> bool:
    return all(getattr(query, name) in (None, row[column]) for name, column in FACETS.items())


def _picks(rows: Iterable[Mapping[str, Any]], version: int) -> Iterator[Named]:
    candidates = picks.candidates()
    wish = Wish(limit=answers.PICKS)
    wishes = [replace(wish, objective=objective) for objective in OBJECTIVES]
    for name in ("gpu_class", "task", "tier"):
        wishes += [replace(wish, **{name: value}) for value in sorted({row[name] for row in rows} - {None})]
    for wish in wishes:
        yield "recommend", answers.canonical(wish), answers.recommended(candidates, wish, version)
