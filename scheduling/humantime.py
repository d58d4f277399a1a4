"""What people say about time ("by 7am", "friday 18:00", "in 4 h"), read with a zone and a `now`, never with a guess."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

Edge = Literal["start", "deadline"]

EXAMPLES = ("by 7am", "22:00", "noon", "tomorrow 18:00", "by friday 7am", "in 4 h", "2026-08-20T09:00")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_CLOCK = re.compile(r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>am|pm)?", re.ASCII)
_SPAN = re.compile(r"in (?P<count>\d{1,5}) ?(?P<unit>h|hours?|min|minutes?)", re.ASCII)
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}[t ]\d{2}:\d{2}(:\d{2})?(z|[+-]\d{2}:?\d{2})?", re.ASCII)


class UnreadableTimeError(ValueError):
    """A time that the grammar does not know, or that makes no sense here; its message has examples."""

    def __init__(self, text: str, why: str) -> None:
        super().__init__(f"can't use {text!r} as a time: {why}. Examples: {', '.join(EXAMPLES)}")
        self.text = text


@dataclass(frozen=True, slots=True)
class Spoken:
    """What was said, not yet at any date.

    Exactly one of `clock`, `after` and `instant`/`wall` is set: a wall time (with `day` or `weekday` if said), a length
    from now, or a date with time, with or without an offset.
    """

    text: str
    clock: time | None = None
    day: Literal["today", "tomorrow"] | None = None
    weekday: int | None = None
    after: timedelta | None = None
    wall: datetime | None = None
    instant: datetime | None = None

    @property
    def recurs(self) -> bool:
        """Whether it can be said of every day or week: a wall time without a date."""
        return self.clock is not None and self.day is None


@dataclass(frozen=True, slots=True)
class Resolved:
    """An instant, in UTC, and the same in the speaker's zone: the answer to show."""

    instant: datetime
    local: datetime

    @property
    def echo(self) -> str:
        """The local time with its offset, to the minute or, where it has them, seconds."""
        whole = self.local.second == 0 and self.local.microsecond == 0
        return self.local.isoformat(timespec="minutes" if whole else "seconds")


def read(text: str) -> Spoken:
    """Return what `text` says; UnreadableTimeError for anything outside the grammar."""
    said = " ".join(text.lower().split())
    if match := _SPAN.fullmatch(said):
        unit = "hours" if match["unit"].startswith("h") else "minutes"
        return Spoken(text, after=timedelta(**{unit: int(match["count"])}))
    if _ISO.fullmatch(said):
        return _read_iso(text, said)
    words = said.split(" ")
    words = words[1:] if words[0] in ("by", "before", "at") else words
    day, words = _read_day(words)
    clock = _read_clock(text, " ".join(words))
    if day in ("today", "tomorrow"):
        return Spoken(text, clock=clock, day="today" if day == "today" else "tomorrow")
    return Spoken(text, clock=clock, weekday=None if day is None else _weekday(day))


def _read_iso(text: str, said: str) -> Spoken:
    try:
        moment = datetime.fromisoformat(said.upper())
    except ValueError as error:
        raise UnreadableTimeError(text, str(error)) from error
    if not 1970 <= moment.year <= 2200:
        raise UnreadableTimeError(text, "its year is not between 1970 and 2200")
    return Spoken(text, wall=moment) if moment.tzinfo is None else Spoken(text, instant=moment.astimezone(UTC))


def _read_day(words: list[str]) -> tuple[str | None, list[str]]:
    """Take a day off the front, with an "at" after it, or off the end."""
    if words and _is_day(words[0]):
        rest = words[1:]
        return words[0], rest[1:] if rest[:1] == ["at"] else rest
    return (words[-1], words[:-1]) if words and _is_day(words[-1]) else (None, words)


def _is_day(word: str) -> bool:
    return word in ("today", "tomorrow") or _weekday(word) is not None


def _weekday(word: str) -> int | None:
    known = [i for i, name in enumerate(WEEKDAYS) if word in (name, name[:3])]
    return known[0] if known else None


def _read_clock(text: str, said: str) -> time:
    if said in ("noon", "midnight"):
        return time(12 if said == "noon" else 0)
    match = _CLOCK.fullmatch(said)
    if match is None:
        raise UnreadableTimeError(text, "say a time of day" if not said else f"{said!r} is not a time of day")
    hour, minute, half = int(match["hour"]), int(match["minute"] or 0), match["half"]
    if (half and not 1 <= hour <= 12) or hour > 23 or minute > 59:
        raise UnreadableTimeError(text, f"there is no {said!r} on the clock")
    return time(hour % 12 + (12 if half == "pm" else 0) if half else hour, minute)


def resolve(said: Spoken, *, now: datetime, zone: ZoneInfo, edge: Edge) -> Resolved:
    """Return the instant meant: of a wall time without date, the next one after `now`.

    UnreadableTimeError for a deadline with a date that is past. `now` must be aware.
    """
    if now.utcoffset() is None:
        raise ValueError(f"now is {now.isoformat()}, without a time zone: give an aware datetime")
    now = now.astimezone(UTC)
    instant = _instant(said, now, zone, edge)
    if edge == "deadline" and instant <= now:
        raise UnreadableTimeError(said.text, f"{resolved(instant, zone).echo} is already past")
    return resolved(instant, zone)


def resolved(instant: datetime, zone: ZoneInfo) -> Resolved:
    return Resolved(instant.astimezone(UTC), instant.astimezone(zone))


def _instant(said: Spoken, now: datetime, zone: ZoneInfo, edge: Edge) -> datetime:
    if said.instant is not None:
        return said.instant
    if said.after is not None:
        return now + said.after
    if said.wall is not None:
        return at_wall(said.wall, zone, edge=edge)
    today = now.astimezone(zone).date()
    if said.day is not None:
        return _on(today + timedelta(days=said.day == "tomorrow"), said, zone, edge)
    days = (today + timedelta(days=n) for n in range(9))
    return next(at for day in days if falls_on(day, said) and (at := _on(day, said, zone, edge)) > now)


def falls_on(day: date, said: Spoken) -> bool:
    return said.weekday is None or day.weekday() == said.weekday


def _on(day: date, said: Spoken, zone: ZoneInfo, edge: Edge) -> datetime:
    return at_wall(datetime.combine(day, said.clock or time()), zone, edge=edge)


def at_wall(wall: datetime, zone: ZoneInfo, *, edge: Edge) -> datetime:
    """Return the instant, in UTC, at which clocks in `zone` show `wall` (naive).

    One that they skip means the first instant after the gap; one that they show twice is the first for a start and the
    second for a deadline.
    """
    first = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    second = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    if first.astimezone(zone).replace(tzinfo=None) != wall:
        return _end_of_gap(min(first, second), max(first, second), zone)
    return second if edge == "deadline" else first


def _end_of_gap(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """The first instant with the offset of `after`, found by halving; clocks change on whole seconds."""
    offset = after.astimezone(zone).utcoffset()
    low, high = int(before.timestamp()), int(after.timestamp())
    while high - low > 1:
        middle = (low + high) // 2
        if datetime.fromtimestamp(middle, UTC).astimezone(zone).utcoffset() == offset:
            high = middle
        else:
            low = middle
    return datetime.fromtimestamp(high, UTC)
