"""From "by 7am, daily" to occurrences: windows between instants, each named by the local date of its deadline."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import Literal
from zoneinfo import ZoneInfo

from dateutil.rrule import DAILY, WEEKLY, rrule

from scheduling.humantime import Resolved, Spoken, UnreadableTimeError, at_wall, falls_on, read, resolve, resolved

Recurrence = Literal["none", "daily", "weekly"]
DEFAULT_WINDOW = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One run to place. `name` is the local date of its deadline; without one, the day after its start."""

    name: date
    earliest_start: Resolved
    deadline: Resolved


def occurrences(
    *,
    deadline: str | None,
    earliest_start: str | None = None,
    recurrence: Recurrence = "none",
    now: datetime,
    zone: ZoneInfo,
    since: datetime | None = None,
    many: int = 1,
) -> list[Occurrence]:
    """Return the next `many` occurrences whose deadline is after `now` (one, without recurrence).

    `since`: when the work was set up (now, if not given); it anchors a weekly deadline without weekday. Each window
    opens at the last earliest start before its deadline; without one, at the deadline before it, or at `since`. Without
    a deadline a window lasts 24 hours. UnreadableTimeError for what can't be read or can't recur.
    """
    if now.utcoffset() is None or (since is not None and since.utcoffset() is None):
        raise ValueError("now and since must be aware datetimes")
    since = (since or now).astimezone(UTC)
    ends = read(deadline) if deadline else None
    starts = read(earliest_start) if earliest_start else None
    if recurrence == "none":
        return [_once(ends, starts, now.astimezone(UTC), zone)]
    _check_recurs(ends, starts, recurrence)
    series = (
        _after_start(starts, recurrence, since, zone)
        if ends is None
        else _by_deadline(ends, starts, recurrence, since, zone)
    )
    return list(islice((o for o in series if o.deadline.instant > now), many))


def _once(ends: Spoken | None, starts: Spoken | None, now: datetime, zone: ZoneInfo) -> Occurrence:
    if ends is None:
        begin = resolve(starts, now=now, zone=zone, edge="start") if starts else resolved(now, zone)
        return _occurrence(begin, resolved(begin.instant + DEFAULT_WINDOW, zone))
    end = resolve(ends, now=now, zone=zone, edge="deadline")
    if starts is None:
        return _occurrence(resolved(now, zone), end)
    begin = _last_before(end, starts, zone) if starts.recurs else resolve(starts, now=now, zone=zone, edge="start")
    if begin.instant >= end.instant:
        raise UnreadableTimeError(starts.text, f"it is {begin.echo}, not before the deadline {end.echo}")
    return _occurrence(begin, end)


def _occurrence(begin: Resolved, end: Resolved) -> Occurrence:
    return Occurrence(end.local.date(), begin, end)


def _check_recurs(ends: Spoken | None, starts: Spoken | None, recurrence: Recurrence) -> None:
    for said in (ends, starts):
        if said is not None and not said.recurs:
            raise UnreadableTimeError(said.text, f"it names one day, so it can't recur {recurrence}")
        if said is not None and said.weekday is not None and recurrence == "daily":
            raise UnreadableTimeError(said.text, "it names a weekday, so it recurs weekly, not daily")


def _walls(clock: time, recurrence: Recurrence, first: date) -> Iterator[datetime]:
    """Naive wall times: the rule knows nothing of offsets, so no clock change can move them."""
    yield from rrule(DAILY if recurrence == "daily" else WEEKLY, dtstart=datetime.combine(first, clock))


def _by_deadline(
    ends: Spoken, starts: Spoken | None, recurrence: Recurrence, since: datetime, zone: ZoneInfo
) -> Iterator[Occurrence]:
    first = resolve(ends, now=since, zone=zone, edge="deadline")
    opens = resolved(since, zone)
    for wall in _walls(ends.clock or time(), recurrence, _wall_date(first, ends, zone)):
        end = resolved(at_wall(wall, zone, edge="deadline"), zone)
        begin = opens if starts is None else _last_before_wall(wall, starts, zone)
        yield Occurrence(wall.date(), begin, end)
        opens = end


def _wall_date(first: Resolved, said: Spoken, zone: ZoneInfo) -> date:
    """The date under which the first occurrence was said: a gap over midnight must not move it."""
    days = (first.local.date() - timedelta(days=n) for n in (0, 1))
    clock = said.clock or time()
    return next(d for d in days if at_wall(datetime.combine(d, clock), zone, edge="deadline") == first.instant)


def _after_start(
    starts: Spoken | None, recurrence: Recurrence, since: datetime, zone: ZoneInfo
) -> Iterator[Occurrence]:
    """Without a deadline: 24 hours from each earliest start, or from the moment of the day at which it was set up."""
    local = since.astimezone(zone)
    clock, first = local.time().replace(microsecond=0), local.date()
    if starts is not None:
        clock = starts.clock or time()
        first = resolve(starts, now=since, zone=zone, edge="start").local.date()
    for wall in _walls(clock, recurrence, first):
        begin = resolved(at_wall(wall, zone, edge="start"), zone)
        end = resolved(begin.instant + DEFAULT_WINDOW, zone)
        # 24 hours from midnight end on the same date where the clock goes back: by wall dates no two share a name
        yield Occurrence(wall.date() + timedelta(days=1), begin, end)


def _last_before(end: Resolved, starts: Spoken, zone: ZoneInfo) -> Resolved:
    return _last_before_wall(end.local.replace(tzinfo=None), starts, zone)


def _last_before_wall(wall: datetime, starts: Spoken, zone: ZoneInfo) -> Resolved:
    """The last wall time said by `starts` before the wall time of a deadline."""
    days = (wall.date() - timedelta(days=n) for n in range(9))
    walls = (datetime.combine(day, starts.clock or time()) for day in days if falls_on(day, starts))
    return resolved(at_wall(next(w for w in walls if w < wall), zone, edge="start"), zone)
