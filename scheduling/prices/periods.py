"""Prices by weekday and wall time, as suppliers and grid operators print them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from scheduling.errors import PricesRefused
from scheduling.prices.types import SpotPoint

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY_MIN = 24 * 60
QUARTER = timedelta(minutes=15)  # clocks change on full quarters of an hour


@dataclass(frozen=True, slots=True)
class Period:
    """A price on some weekdays (0 = Monday) from one minute of the day to another; it may pass midnight."""

    days: frozenset[int]
    from_min: int
    to_min: int
    price_per_kwh: Decimal

    def holds_at(self, weekday: int, minute: int) -> bool:
        if self.from_min < self.to_min:
            return weekday in self.days and self.from_min <= minute < self.to_min
        evening = weekday in self.days and minute >= self.from_min
        return evening or ((weekday - 1) % 7 in self.days and minute < self.to_min)


def periods_from(rows: Iterable[Mapping[str, Any]], *, whole_week: bool = True) -> tuple[Period, ...]:
    """Read rows such as ``{"days": "mon-fri", "from": "22:00", "to": "06:00", "price": "0.21"}``.

    `days` is one day, a range, a list with commas, or "all". Raises PricesRefused where a row can't be read, where
    two rows hold at once, or where a minute of the week has none (with `whole_week`).
    """
    periods = tuple(_period(row) for row in rows)
    for weekday in range(7):
        for minute in sorted({0, *(m % DAY_MIN for period in periods for m in (period.from_min, period.to_min))}):
            holding = sum(period.holds_at(weekday, minute) for period in periods)
            if holding > 1 or (holding < 1 and whole_week):
                what = "no period gives" if holding < 1 else f"{holding} periods give"
                raise PricesRefused(f"On {DAYS[weekday]} at {minute // 60:02d}:{minute % 60:02d} {what} a price.")
    return periods


def _period(row: Mapping[str, Any]) -> Period:
    try:
        price = Decimal(str(row["price"]))
        period = Period(_days(str(row.get("days", "all"))), _minute(row["from"]), _minute(row["to"]), price)
    except (KeyError, ValueError, InvalidOperation):
        price, period = Decimal("NaN"), None
    if period is None or not price.is_finite():
        example = '{"days": "mon-fri", "from": "22:00", "to": "06:00", "price": "0.21"}'
        raise PricesRefused(f"{dict(row)!r:.120} is no period. Write one such as {example}.")
    return period


def _days(words: str) -> frozenset[int]:
    if words == "all":
        return frozenset(range(7))
    found: set[int] = set()
    for word in words.lower().split(","):
        first, _, last = word.strip().partition("-")
        begin = DAYS.index(first)
        many = (DAYS.index(last or first) - begin) % 7
        found.update((begin + i) % 7 for i in range(many + 1))
    return frozenset(found)


def _minute(wall: str) -> int:
    if wall == "24:00":
        return DAY_MIN
    at = time.fromisoformat(wall)
    return at.hour * 60 + at.minute


def expanded(periods: Sequence[Period], zone: ZoneInfo, start: datetime, end: datetime) -> list[SpotPoint]:
    """Return the prices of the periods from `start` to `end`; time without a period has no point."""
    points: list[SpotPoint] = []
    edges = sorted({start, end, *_edges(periods, zone, start, end)})
    for begin, stop in pairwise(edges):
        price = price_at(periods, zone, begin)
        if price is None:
            continue
        if points and points[-1].end == begin and points[-1].price_per_kwh == price:
            begin = points.pop().start
        points.append(SpotPoint(begin, stop, price))
    return points


def price_at(periods: Iterable[Period], zone: ZoneInfo, instant: datetime) -> Decimal | None:
    wall = instant.astimezone(zone)
    minute = wall.hour * 60 + wall.minute
    return next((p.price_per_kwh for p in periods if p.holds_at(wall.weekday(), minute)), None)


def _edges(periods: Sequence[Period], zone: ZoneInfo, start: datetime, end: datetime) -> Iterator[datetime]:
    """Yield every instant between `start` and `end` at which a period may begin or end, or a clock may change."""
    quarters = int((end - start) / QUARTER) + 2
    whole = start.replace(minute=start.minute // 15 * 15, second=0, microsecond=0)
    yield from (at for i in range(quarters) if start < (at := whole + i * QUARTER) < end)
    odd = {m for p in periods for m in (p.from_min, p.to_min) if m % 15}
    day = start.astimezone(zone).date() - timedelta(days=1)
    while odd and day <= end.astimezone(zone).date():
        yield from (at for minute in odd for at in _instants(zone, day, minute) if start < at < end)
        day += timedelta(days=1)


def _instants(zone: ZoneInfo, day: date, minute: int) -> Iterator[datetime]:
    wall = datetime(day.year, day.month, day.day, minute // 60, minute % 60, tzinfo=zone)
    yield from (wall.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
