"""Which time has a price: never counted in rows, always in covered time."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from scheduling.errors import PricesRefused
from scheduling.humantime import at_wall
from scheduling.prices.types import SpotPoint

Span = tuple[datetime, datetime]


def local_midnight(zone: ZoneInfo, day: date) -> datetime:
    """Return the first instant of a local date, in UTC, also where midnight itself does not exist."""
    return at_wall(datetime.combine(day, time()), zone, edge="start")


def local_day(zone: ZoneInfo, day: date) -> Span:
    """Return a local date as an interval of UTC: 23, 24 or 25 hours."""
    return local_midnight(zone, day), local_midnight(zone, day + timedelta(days=1))


def gaps(points: Iterable[SpotPoint], start: datetime, end: datetime) -> list[Span]:
    """Return the stretches between `start` and `end` that no point covers."""
    missing: list[Span] = []
    covered = start
    for point in sorted(points):
        if point.start > covered and covered < end:
            missing.append((covered, min(point.start, end)))
        covered = max(covered, point.end)
    return [*missing, (covered, end)] if covered < end else missing


def is_complete(points: Iterable[SpotPoint], zone: ZoneInfo, day: date) -> bool:
    """Whether points cover a local date from midnight to midnight without a hole."""
    return not gaps(points, *local_day(zone, day))


def tidy(points: Iterable[SpotPoint]) -> tuple[SpotPoint, ...]:
    """Return the points in order, each time covered once.

    The same price published twice, in whatever steps, counts once. Two prices for one time raise PricesRefused.
    """
    kept: list[SpotPoint] = []
    for point in sorted(set(points)):
        if point.end <= point.start:
            raise PricesRefused(f"The price at {point.start.isoformat()} ends at {point.end.isoformat()}.")
        covered = kept[-1].end if kept else point.start
        if point.start < covered and point.price_per_kwh != kept[-1].price_per_kwh:
            raise PricesRefused(f"Two prices are given for {point.start.isoformat()}, so neither can be taken.")
        if point.end > covered:
            kept.append(SpotPoint(max(point.start, covered), point.end, point.price_per_kwh))
    return tuple(kept)


def mean_price(points: Sequence[SpotPoint], start: datetime, end: datetime) -> Decimal | None:
    """Return the price of even consumption from `start` to `end`; None where a part of it has no price."""
    if gaps(points, start, end):
        return None
    shares = ((max(p.start, start), min(p.end, end), p.price_per_kwh) for p in points)
    weighted = sum((Decimal((b - a).total_seconds()) * price for a, b, price in shares if b > a), Decimal(0))
    return weighted / Decimal((end - start).total_seconds())
