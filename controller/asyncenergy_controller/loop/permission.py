"""What the owner of this box allows of a plan. Pure."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from asyncenergy_controller.jobs.entry import JobEntry
from asyncenergy_controller.jobs.limits import allowed_s, refusal
from asyncenergy_controller.loop.slots import Slot


def why_not(slot: Slot, entry: JobEntry, at: datetime, started: Iterable[datetime]) -> str | None:
    """Say why a slot may not begin at that instant; None where it may. `started` are the job's other starts."""
    if slot.is_part and not entry.interruptible:
        return "the plan splits it, and the catalog doesn't call it interruptible"
    if why := refusal(entry, at, started):
        return why
    open_s = allowed_s(entry, at)
    if open_s is not None and slot.is_last and open_s < slot.length.total_seconds():
        return f"its allowed_hours, {entry.allowed_hours}, end before it would be done"
    return None


def ends_at(slot: Slot, entry: JobEntry, begun: datetime, others: datetime | None = None) -> datetime:
    """When a run that begins then is ended: with its slot, and with the hours that its owner allows.

    `others` is when other work has to begin on this box at the latest.
    """
    open_s = allowed_s(entry, begun)
    ends = slot.ends(begun, others)
    return ends if open_s is None else min(ends, begun + timedelta(seconds=open_s))


def why_never(slot: Slot, entry: JobEntry) -> str | None:
    """Say why a slot may not begin at any moment at which it could; None where it may at one of them."""
    hours = entry.allowed_hours
    opens = hours.opens(slot.start) if hours else slot.start
    begins = slot.start if opens is None or opens > slot.latest else opens
    return why_not(slot, entry, begins, [])
