"""Public answers as bytes: stored by the worker, else made on demand and kept in memory for as long as they hold."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from threading import Lock
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from pydantic_core import to_json

from bench import recommendation
from bench.models import StoredAnswer
from bench.recommendation import Wish
from bench.selectors import board, facets, picks, routing
from bench.selectors import snapshot as snapshots
from bench.selectors import sweeps as sweeping
from bench.selectors.board import BoardQuery
from bench.selectors.sweeps import SweepQuery

MEMORY_BYTES = 32 * 2**20
PAGE_ROWS = 100
PICKS = 50


@dataclass(frozen=True)
class Answer:
    """A JSON object. Of a page, `page` holds the count and the query strings of its neighbours, and goes before it."""

    body: bytes
    page: Mapping[str, Any] | None = None

    @cached_property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.body + to_json(self.page)).hexdigest()[:32]}"'


Make = Callable[[int], Answer]


class _Memory:
    """The most recently used answers after one rebuild, up to a size in bytes."""

    def __init__(self) -> None:
        self._lock, self._token, self._size = Lock(), "", 0
        self._answers: OrderedDict[tuple[str, str], Answer] = OrderedDict()

    def get(self, token: str, key: tuple[str, str]) -> Answer | None:
        with self._lock:
            if token != self._token or key not in self._answers:
                return None
            self._answers.move_to_end(key)
            return self._answers[key]

    def put(self, token: str, key: tuple[str, str], answer: Answer) -> None:
        with self._lock:
            if token != self._token:
                self._answers.clear()
                self._token, self._size = token, 0
            if key in self._answers:
                return
            self._answers[key] = answer
            self._size += len(answer.body)
            while self._size > MEMORY_BYTES:
                _, oldest = self._answers.popitem(last=False)
                self._size -= len(oldest.body)


_memory = _Memory()


def remembered(name: str, query: str, make: Make) -> Answer:
    """The answer from memory, else as `make` makes it for the version of the board."""
    stamp = board.board_stamp()
    found = _memory.get(stamp.token, (name, query))
    if found is None:
        found = make(stamp.version)
        _memory.put(stamp.token, (name, query), found)
    return found


def canonical(query: BoardQuery | Wish) -> str:
    """What differs from the default, in the order of the fields: equal questions have one spelling."""
    asked = [(f.name, getattr(query, f.name)) for f in fields(query)]
    return urlencode([(name, value) for name, value in asked if value is not None and value != _default(query, name)])


def leaderboard(query: BoardQuery) -> Answer:
    """One page of the board."""
    return _answer("leaderboard", canonical(query), lambda version: _leaderboard(query, version))


def routing_table(query: BoardQuery) -> Answer:
    """One page of the rows that a router needs."""
    return _answer("routing-table", canonical(query), lambda version: _routing_table(query, version))


def recommend(wish: Wish) -> Answer:
    return _answer("recommend", canonical(wish), lambda version: recommended(picks.candidates(), wish, version))


def board_facets() -> Answer:
    return _answer("facets", "", facets_of)


def sweeps(query: SweepQuery) -> Answer:
    """One page of sweeps."""
    rows = map(to_json, sweeping.sweep_list(query))
    return page_of(rows, sweeping.sweep_count(query), query, board.board_stamp().version)


def snapshot() -> Answer:
    """The whole board in one file."""
    return _answer("bench-data", "", lambda _: Answer(to_json(snapshots.snapshot())))


def facets_of(version: int) -> Answer:
    return Answer(to_json({**facets.board_facets(), "data_version": str(version)}))


def page_of(rows: Iterable[bytes], count: int, query: BoardQuery | SweepQuery, version: int) -> Answer:
    """A page out of rows that are written already."""
    body = b'{"data_version":"%d","results":[%b]}' % (version, b",".join(rows))
    return Answer(body, _page(query, count))


def recommended(candidates: list[Any], wish: Wish, version: int) -> Answer:
    return Answer(to_json({**recommendation.recommend(candidates, wish), "data_version": str(version)}))


def _answer(name: str, query: str, make: Make) -> Answer:
    """From memory, else as the worker stored it, else made now."""
    stamp = board.board_stamp()
    found = _memory.get(stamp.token, (name, query))
    if found is None:
        found = _stored(stamp.token, name, query) or make(stamp.version)
        _memory.put(stamp.token, (name, query), found)
    return found


def _leaderboard(query: BoardQuery, version: int) -> Answer:
    rows = board.board_rows(query)
    made = page_of(map(to_json, rows), board.board_count(query), query, version)
    if not settings.DEMO:
        return made
    simulated = b',"simulated":' + to_json(board.simulated_rows(query)) + b"}"  # a section of its own
    return replace(made, body=made.body[:-1] + simulated)


def _routing_table(query: BoardQuery, version: int) -> Answer:
    rows = routing.routing_rows(query)
    return page_of(map(to_json, rows), board.board_count(query), query, version)


def _stored(token: str, name: str, query: str) -> Answer | None:
    if settings.DEMO:  # what a demonstration shows beside the board is not stored
        return None
    found = StoredAnswer.objects.filter(name=name, query=query, token=token).first()
    return Answer(bytes(found.body), found.page) if found else None


def _page(query: BoardQuery | SweepQuery, count: int) -> dict[str, Any]:
    def link(offset: int) -> str:
        asked = {**asdict(query), "offset": offset}
        return urlencode({name: value for name, value in asked.items() if value is not None})

    after = query.offset + query.limit
    return {
        "count": count,
        "next": link(after) if after < count else None,
        "previous": link(max(0, query.offset - query.limit)) if query.offset else None,
    }


def _default(query: BoardQuery | Wish, name: str) -> Any:
    return type(query).__dataclass_fields__[name].default
