"""What the owner of this machine allows, whatever the schedule says."""

from collections.abc import Iterable
from datetime import datetime, timedelta, tzinfo

from asyncenergy_controller.jobs.entry import JobEntry


def refusal(entry: JobEntry, at: datetime, started: Iterable[datetime], zone: tzinfo | None = None) -> str | None:
    """Say why the job may not start at that instant; None where it may.

    `started` are the starts of its runs so far, of which a resumed piece is none. A day is a local one.
    """
    hours = entry.allowed_hours
    if hours is not None and not hours.holds(at, zone):
        return f"outside its allowed_hours, {hours}"
    today = at.astimezone(zone).date()
    runs = sum(start.astimezone(zone).date() == today for start in started)
    if runs >= entry.max_runs_per_day:
        return f"it has run {runs} times today, and max_runs_per_day is {entry.max_runs_per_day}"
    return None


def allowed_s(entry: JobEntry, at: datetime, zone: tzinfo | None = None) -> float | None:
    """Return how many seconds from `at` on its hours leave it; None where they have no end."""
    closes = entry.allowed_hours.closes(at, zone) if entry.allowed_hours else None
    return None if closes is None else max((closes - at) / timedelta(seconds=1), 0.0)
