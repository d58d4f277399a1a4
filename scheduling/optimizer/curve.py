"""Time as whole microseconds since 1970 (UTC, so that no clock change can touch it) and prices as a step function."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from scheduling.optimizer.types import PricePoint

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 3600 * SECOND


def instant(moment: datetime, what: str) -> int:
    """Return an aware datetime as microseconds since 1970; ValueError for one without a zone."""
    if moment.utcoffset() is None:
        raise ValueError(f"{what} is {moment.isoformat()}, without a time zone: give an aware datetime")
    return (moment.astimezone(UTC) - EPOCH) // MICROSECOND


def moment(instant_us: int) -> datetime:
    return EPOCH + timedelta(microseconds=int(instant_us))


def span(seconds: float) -> int:
    return round(seconds * SECOND)


@dataclass(frozen=True, eq=False)
class Curve:
    """Price per kWh, constant between neighbouring `edges`; a segment not `priced` carries 0 and is unusable."""

    edges: Ints
    price: Floats
    priced: Bools

    @cached_property
    def integral(self) -> Floats:
        """Money per kW from the first edge to each edge."""
        return np.concatenate(([0.0], np.cumsum(self.price * np.diff(self.edges) / HOUR)))

    def until(self, times: Ints) -> Floats:
        """Money per kW from the first edge to each of `times`."""
        return np.interp(times, self.edges, self.integral)

    @property
    def start(self) -> int:
        return int(self.edges[0])

    @property
    def end(self) -> int:
        return int(self.edges[-1])

    def at(self, time: int) -> float:
        """The price in force at an instant inside the curve."""
        return float(self.price[np.searchsorted(self.edges, time, side="right") - 1])

    def money(self, begin: int, end: int, watts: float) -> float:
        """What `watts` cost from `begin` to `end`, summed without cancellation."""
        first = int(np.searchsorted(self.edges, begin, side="right")) - 1
        last = int(np.searchsorted(self.edges, end, side="left"))
        cuts = np.clip(self.edges[first : last + 1], begin, end)
        return float((self.price[first:last] * np.diff(cuts)).sum()) * watts / 1000 / HOUR

    def is_priced(self, begin: int, end: int) -> bool:
        if begin < self.start or end > self.end:
            return False
        first = int(np.searchsorted(self.edges, begin, side="right")) - 1
        last = int(np.searchsorted(self.edges, end, side="left"))
        return bool(self.priced[first:last].all())


def curve_from(points: Sequence[PricePoint], now: int) -> Curve:
    """Return the curve through `points` in any order. ValueError for an overlap, an empty point, or no number."""
    spans = sorted(
        (instant(p.start, "a price's start"), instant(p.end, "a price's end"), p.price_per_kwh) for p in points
    )
    edges: list[int] = []
    prices: list[float | None] = []
    for begin, end, price in spans:
        _check_point(begin, end, price, edges[-1] if edges else begin)
        _append(edges, prices, begin, end, price)
    if not edges:
        edges = [now]
    values = np.array([0.0 if p is None else p for p in prices], dtype=np.float64)
    return Curve(np.array(edges, dtype=np.int64), values, np.array([p is not None for p in prices], dtype=np.bool_))


def _check_point(begin: int, end: int, price: float, known_until: int) -> None:
    at = moment(begin).isoformat()
    if end <= begin:
        raise ValueError(f"the price point at {at} ends at {moment(end).isoformat()}, not after its start")
    if not isfinite(price):
        raise ValueError(f"the price at {at} is {price}: leave out a price that is not known")
    if begin < known_until:
        raise ValueError(f"two price points cover {at}: give one price for each instant")


def _append(edges: list[int], prices: list[float | None], begin: int, end: int, price: float) -> None:
    """Add a segment; a hole becomes a segment without price, and equal neighbours become one."""
    if not edges:
        edges.append(begin)
    elif begin > edges[-1]:
        edges.append(begin)
        prices.append(None)
    if prices and prices[-1] == price:
        edges[-1] = end
    else:
        edges.append(end)
        prices.append(float(price))
