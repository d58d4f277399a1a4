"""A price curve as chart and table show it: one row a price, and marks on the clock of whoever looks. Pure."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from string import ascii_uppercase
from zoneinfo import ZoneInfo

from scheduling.pages.money import minor
from scheduling.selectors.prices import CurvePoint

HOUR = timedelta(hours=1)
STEPS = ((12, 1), (26, 2), (50, 4), (100, 12))
"""Up to so many hours a mark every so many."""

Spans = Sequence[tuple[datetime, datetime]]


@dataclass(frozen=True, slots=True)
class Slot:
    """The price of one stretch of time; `left` and `right` are seconds from the chart's beginning."""

    start: datetime
    end: datetime
    price_per_kwh: float
    drawn: float
    is_forecast: bool
    running: str
    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Lane:
    """One job below the curve: its window as a thin line, its place as a thick bar. Places are seconds."""

    key: str
    name: str
    opens: int
    closes: int
    runs: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """The stretch of time that is shown."""

    begin: datetime
    end: datetime
    zone: ZoneInfo
    now: datetime

    def x(self, instant: datetime) -> int:
        """Seconds from the beginning, kept inside of what is shown."""
        return round((min(max(instant, self.begin), self.end) - self.begin).total_seconds())

    @property
    def now_x(self) -> int | None:
        return self.x(self.now) if self.begin <= self.now < self.end else None

    @property
    def last_x(self) -> int:
        return self.x(self.end)

    @property
    def ticks_json(self) -> str:
        """Pairs of place and text."""
        return json.dumps(self.ticks)

    @property
    def ticks(self) -> list[tuple[int, str]]:
        """Marks at full hours of the wall clock, whatever the clock does in between."""
        hours = (self.end - self.begin) / HOUR
        step = next((step for most, step in STEPS if hours <= most), 24)
        first = self.begin.replace(minute=0, second=0, microsecond=0)
        quarters = (first + timedelta(minutes=15 * i) for i in range(int(hours * 4) + 8))
        walls = ((at, at.astimezone(self.zone)) for at in quarters if self.begin <= at <= self.end)
        return [(self.x(at), _mark(wall)) for at, wall in walls if wall.minute == 0 and wall.hour % step == 0]

    def lane(self, key: str, name: str, window: tuple[datetime, datetime], spans: Spans) -> Lane:
        runs = " ".join(f"{self.x(start)}-{self.x(end)}" for start, end in spans)
        return Lane(key, name, self.x(window[0]), self.x(window[1]), runs)

    def slots(self, points: Iterable[CurvePoint], currency: str, busy: Sequence[tuple[str, Spans]] = ()) -> list[Slot]:
        """One row a price; `busy`: which keys run when. A price is split where a run begins or ends inside it."""
        edges = [edge for _, spans in busy for span in spans for edge in span]
        shown = [point for point in points if point.end > self.begin and point.start < self.end]
        return [
            self._slot(point, start, end, currency, busy)
            for point in shown
            for start, end in pairwise(self._cuts(point, edges))
        ]

    def _cuts(self, point: CurvePoint, edges: Iterable[datetime]) -> list[datetime]:
        begin, end = max(point.start, self.begin), min(point.end, self.end)
        return sorted({begin, end, *(edge for edge in edges if begin < edge < end)})

    def _slot(
        self, point: CurvePoint, start: datetime, end: datetime, currency: str, busy: Sequence[tuple[str, Spans]]
    ) -> Slot:
        running = [key for key, spans in busy if any(a < end and b > start for a, b in spans)]
        price = float(point.price_per_kwh)
        drawn = round(minor(price, currency), 4)
        return Slot(start, end, price, drawn, point.is_forecast, ", ".join(running), self.x(start), self.x(end))


def _mark(wall: datetime) -> str:
    return f"{wall:%a} 00:00" if wall.hour == 0 else f"{wall:%H:%M}"


def hour_floor(instant: datetime) -> datetime:
    return instant.replace(minute=0, second=0, microsecond=0)


def hour_ceiling(instant: datetime) -> datetime:
    floor = hour_floor(instant)
    return floor if floor == instant else floor + HOUR


def key_of(number: int) -> str:
    """A, B, …, Z, AA: the name of the n-th row, counted from 0."""
    more, letter = divmod(number, len(ascii_uppercase))
    return (key_of(more - 1) if more else "") + ascii_uppercase[letter]
