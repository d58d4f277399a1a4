"""Prices by weekday and wall time, as suppliers and grid operators print them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
PRICE_BELOW, PRICE_STEP = Decimal(1000), Decimal("1e-9")
EXAMPLE = '{"days": "mon-fri", "from": "22:00", "to": "06:00", "price": "0.21"}'


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


def periods_from(rows: object, *, whole_week: bool = True) -> tuple[Period, ...]:
    """Read rows such as ``{"days": "mon-fri", "from": "22:00", "to": "06:00", "price": "0.21"}``.

    `days` is one day, a range, a list with commas, or "all". Raises PricesRefused where a row can't be read, where
    two rows hold at once, or where a minute of the week has none (with `whole_week`).
    """
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise PricesRefused(f"{rows!r:.120} is no list of periods. Write one such as [{EXAMPLE}].")
    periods = tuple(_period(row) for row in rows)
    for weekday in range(7):
        for minute in sorted({0, *(m % DAY_MIN for period in periods for m in (period.from_min, period.to_min))}):
            holding = sum(period.holds_at(weekday, minute) for period in periods)
            if holding > 1 or (holding < 1 and whole_week):
                what = "no period gives" if holding < 1 else f"{holding} periods give"
                raise PricesRefused(f"On {DAYS[weekday]} at {minute // 60:02d}:{minute % 60:02d} {what} a price.")
    return periods


def _period(row: object) -> Period:
    if not isinstance(row, Mapping):
        raise PricesRefused(f"{row!r:.120} is no period. Write one such as {EXAMPLE}.")
    given = {"days": "all", **row}
    return Period(*(_read(given, name) for name in READ))


def _read(row: Mapping[str, Any], name: str) -> Any:
    reader, wanted = READ[name]
    value = row.get(name)
    try:
        return reader(value)
    except ValueError:
        wrong = f"its `{name}` is {value!r:.60}, not {wanted}"
        raise PricesRefused(f"{dict(row)!r:.120} is no period: {wrong}. Write one such as {EXAMPLE}.") from None


def _days(words: object) -> frozenset[int]:
    if words == "all":
        return frozenset(range(7))
    found: set[int] = set()
    for word in _text(words).lower().split(","):
        first, _, last = word.strip().partition("-")
        begin = DAYS.index(first)
        many = (DAYS.index(last or first) - begin) % 7
        found.update((begin + i) % 7 for i in range(many + 1))
    return frozenset(found)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a text is needed, not {value!r:.60}")
    return value


def _minute(wall: object) -> int:
    if wall == "24:00":
        return DAY_MIN
    at = time.fromisoformat(_text(wall))
    return at.hour * 60 + at.minute


def _price(value: object) -> Decimal:
    """A price as a fee of the same formula is stored, so that no sum of them is beyond what money is counted in."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"a number is needed, not {value!r:.60}")
    try:
        price = Decimal(str(value))
        fits = abs(price) < PRICE_BELOW and price == price.quantize(PRICE_STEP)
    except InvalidOperation as error:
        raise ValueError(f"{value!r:.60} is no number") from error
    if not fits:
        raise ValueError(f"{value!r:.60} does not fit")
    return price


READ: Mapping[str, tuple[Callable[[object], Any], str]] = {
    "days": (_days, f"days of {', '.join(DAYS)}, a range of them, or all"),
    "from": (_minute, "a time of day"),
    "to": (_minute, "a time of day"),
    "price": (_price, f"a number between -{PRICE_BELOW} and {PRICE_BELOW} with at most 9 decimal places"),
}
"""How each field of a row is read, in the order of a period's own; what can't be raises ValueError."""


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
