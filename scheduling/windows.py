"""When work is wanted: its owner's words as windows between instants. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from scheduling.errors import FieldRefused
from scheduling.humantime import WEEKDAYS, UnreadableTimeError, at_wall, read
from scheduling.recurrence import Occurrence, Recurrence, occurrences

AHEAD_OCCURRENCES = 3
WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Words:
    """What an owner said of the time, when, and in which zone. Empty words are unsaid ones."""

    deadline: str
    earliest_start: str
    recurrence: Recurrence
    said_at: datetime
    zone: ZoneInfo


@dataclass(frozen=True, slots=True)
class Window:
    """One time that the work is wanted; `key` names it within its workflow."""

    key: str
    earliest_start: datetime
    deadline: datetime


def windows(words: Words, *, now: datetime, many: int = AHEAD_OCCURRENCES) -> list[Window]:
    """Return the next windows whose deadline is after `now`; one for work that is done once.

    Raises FieldRefused naming the field that can't be read, with examples.
    """
    _read_each(words)
    try:
        found = occurrences(
            deadline=words.deadline or None,
            earliest_start=words.earliest_start or None,
            recurrence=words.recurrence,
            now=now,
            zone=words.zone,
            since=_recent_anchor(words, now),
            many=many,
        )
    except UnreadableTimeError as error:
        field = "earliest_start" if error.text == words.earliest_start else "deadline"
        raise FieldRefused(field, "time_unreadable", _sentence(error)) from None
    return [_window(one, words.recurrence) for one in found if one.deadline.instant > one.earliest_start.instant]


def _read_each(words: Words) -> None:
    """Say which of the two fields can't be read, even where both say the same."""
    fields: Sequence[tuple[str, str]] = (("deadline", words.deadline), ("earliest_start", words.earliest_start))
    for field, text in fields:
        try:
            read(text) if text else None
        except UnreadableTimeError as error:
            raise FieldRefused(field, "time_unreadable", _sentence(error)) from None


def _sentence(error: UnreadableTimeError) -> str:
    words = str(error)
    return f"{words[0].upper()}{words[1:]}."


def _recent_anchor(words: Words, now: datetime) -> datetime:
    """The same weekday and wall time as when it was said, some weeks later: old work is not counted through anew."""
    weeks = (now - words.said_at) // WEEK - 2
    if weeks <= 0:
        return words.said_at
    wall = words.said_at.astimezone(words.zone).replace(tzinfo=None, microsecond=0) + weeks * WEEK
    return at_wall(wall, words.zone, edge="start")


def _window(one: Occurrence, recurrence: Recurrence) -> Window:
    """What recurs is named by the local date of its deadline, what is done once by the deadline itself."""
    instant = one.deadline.instant.astimezone(UTC)
    key = one.name.isoformat() if recurrence != "none" else f"{instant:%Y-%m-%dT%H:%M:%SZ}"
    return Window(key, _whole(one.earliest_start.instant), _whole(instant))


def _whole(instant: datetime) -> datetime:
    return instant.astimezone(UTC).replace(microsecond=0)


def later_deadline(words: Words, window: Window, minutes: int, *, now: datetime) -> str | None:
    """Return the words of a deadline that gives `window` so many minutes more.

    None where no words do: what recurs can't take longer than until its next time.
    """
    meant = _whole_minute(window.deadline + timedelta(minutes=minutes))
    wall = meant.astimezone(words.zone)
    said = {
        "none": wall.isoformat("T", "minutes"),
        "daily": f"by {wall:%H:%M}",
        "weekly": f"by {WEEKDAYS[wall.weekday()]} {wall:%H:%M}",
    }[words.recurrence]
    changed = replace(words, deadline=said, said_at=now)
    opened = max(window.earliest_start, now)
    helps = any(one.deadline == meant and one.earliest_start <= opened for one in windows(changed, now=now))
    return said if helps else None


def _whole_minute(instant: datetime) -> datetime:
    return instant + timedelta(seconds=-instant.second % 60)
