"""The clock changes of the world."""

from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

FIRST, LAST = datetime(2025, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC)


WEEK = timedelta(days=7)


@cache
def clock_changes(name: str) -> tuple[datetime, ...]:
    """The first instants with a new offset, 2025 to 2027, in UTC; no zone changes its clocks twice in a week."""
    zone = ZoneInfo(name)
    weeks = [FIRST + n * WEEK for n in range((LAST - FIRST) // WEEK + 2)]
    return tuple(_change(zone, a, b) for a, b in pairwise(weeks) if _offset(a, zone) != _offset(b, zone))


def _offset(at: datetime, zone: ZoneInfo) -> timedelta | None:
    return at.astimezone(zone).utcoffset()


def _change(zone: ZoneInfo, before: datetime, after: datetime) -> datetime:
    while after - before > timedelta(minutes=1):
        middle = before + (after - before) // timedelta(minutes=2) * timedelta(minutes=1)
        before, after = (before, middle) if _offset(middle, zone) == _offset(after, zone) else (middle, after)
    return after


def every_zone() -> list[str]:
    """All zones with a clock change; of zones that keep the same time, each."""
    return sorted(name for name in available_timezones() if clock_changes(name))


def one_zone_of_each_kind() -> list[str]:
    """One zone for each set of clock changes."""
    kinds: dict[tuple[datetime, ...], str] = {}
    for name in every_zone():
        kinds.setdefault(clock_changes(name), name)
    return sorted(kinds.values())
