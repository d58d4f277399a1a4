"""Hours of the day in which a job may run, as the clock on the wall shows them."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Any, Self

FORM = re.compile(r"(\d{1,2}):(\d\d)\s*-\s*(\d{1,2}):(\d\d)")
LOOK_AHEAD = timedelta(hours=50)
"""A day of 25 hours and the next one: hours that a clock change leaves out come back by then."""


@dataclass(frozen=True)
class Span:
    """From `start` to before `end`; over midnight where `end` is not later."""

    start: time
    end: time

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `22:00-06:00`; 24:00 is midnight. Raises ValueError."""
        match = FORM.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text!r} is no span of hours; write it like 22:00-06:00")
        start, end = _wall(match[1], match[2], text), _wall(match[3], match[4], text)
        if start == end and match[3] != "24":
            raise ValueError(f"{text!r} begins and ends at the same time; leave allowed_hours out for the whole day")
        return cls(start, end)

    def holds(self, wall: time) -> bool:
        if self.start < self.end:
            return self.start <= wall < self.end
        return wall >= self.start or wall < self.end

    def __str__(self) -> str:
        return f"{self.start:%H:%M}-{self.end:%H:%M}"


@dataclass(frozen=True)
class AllowedHours:
    """One or more spans. `zone` None is the zone of this machine; all answers are in UTC."""

    spans: tuple[Span, ...]

    @classmethod
    def parse(cls, value: Any) -> Self:
        """Read `"22:00-06:00"` or a list of such. Raises ValueError."""
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list | tuple) or not texts or not all(isinstance(text, str) for text in texts):
            raise ValueError('write "22:00-06:00", or a list of such spans')
        return cls(tuple(Span.parse(text) for text in texts))

    def holds(self, at: datetime, zone: tzinfo | None = None) -> bool:
        """Say whether the clock on the wall is inside at that instant; an hour that comes twice is inside twice."""
        wall = at.astimezone(zone).time()
        return any(span.holds(wall) for span in self.spans)

    def closes(self, at: datetime, zone: tzinfo | None = None) -> datetime | None:
        """Return the first instant after `at` that is outside; None where there is none."""
        return self._first(at, zone, inside=False)

    def opens(self, at: datetime, zone: tzinfo | None = None) -> datetime | None:
        """Return `at` itself where it is inside, else the first instant after it that is."""
        return at if self.holds(at, zone) else self._first(at, zone, inside=True)

    def _first(self, at: datetime, zone: tzinfo | None, *, inside: bool) -> datetime | None:
        """Look minute by minute: clocks change on whole minutes, and nothing has to be known about how."""
        minute = at.astimezone(UTC).replace(second=0, microsecond=0)
        end = minute + LOOK_AHEAD
        while (minute := minute + timedelta(minutes=1)) <= end:
            if self.holds(minute, zone) == inside:
                return minute
        return None

    def __str__(self) -> str:
        return ", ".join(map(str, self.spans))


def _wall(hour: str, minute: str, text: str) -> time:
    if (int(hour), int(minute)) == (24, 0):
        return time(0)
    try:
        return time(int(hour), int(minute))
    except ValueError:
        raise ValueError(f"{text!r} names a time that no clock shows; write it like 22:00-06:00") from None
