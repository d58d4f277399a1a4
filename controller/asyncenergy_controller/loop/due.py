"""What is to be done about each slot of a schedule at one moment. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from asyncenergy_controller.loop.slots import Slot

RunStatus = Literal["running", "success", "error", "preempted", "paused", "missed"]
"""What became of a run here: `paused` is a piece that ended as planned, `missed` was never begun."""


@dataclass(frozen=True, slots=True)
class PastRun:
    """One run, or one that was missed, as this box remembers it."""

    workflow_id: str
    occurrence: str
    attempt: int
    piece: str
    status: RunStatus
    started_at: datetime


class State(StrEnum):
    """What is to be done about a slot."""

    DUE = "due"
    LATER = "later"
    HELD = "held"
    MISSED = "missed"
    UNKNOWN = "unknown"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Standing:
    """A slot, what is to be done about it, and why where that isn't plain."""

    slot: Slot
    state: State
    reason: str = ""


Refusal = Callable[[Slot], str | None]
"""Why the local catalog doesn't let a slot run now, in words; None where it does."""


def standings(
    slots: Iterable[Slot], *, known: Callable[[str], bool], past: Sequence[PastRun], refusal: Refusal, now: datetime
) -> list[Standing]:
    """Return where each slot stands, the most urgent first.

    `known` says whether a workflow is in the catalog; `past` are the runs of this box that may still matter.
    """
    found = [_standing(slot, known(slot.placement.workflow_id), past, refusal, now) for slot in slots]
    return sorted(found, key=lambda one: (one.slot.latest, one.slot.start, one.slot.occurrence))


def _standing(slot: Slot, is_known: bool, past: Sequence[PastRun], refusal: Refusal, now: datetime) -> Standing:
    if not is_known:
        return Standing(slot, State.UNKNOWN, "its workflow has no entry in the catalog")
    if is_over(slot, past):
        return Standing(slot, State.OVER)
    if now < slot.start:
        return Standing(slot, State.LATER)
    why = refusal(slot)
    if now > slot.latest:
        return Standing(slot, State.MISSED if slot.is_last else State.OVER, why or "this box didn't run it in time")
    return Standing(slot, State.HELD, why) if why else Standing(slot, State.DUE)


def is_over(slot: Slot, past: Iterable[PastRun]) -> bool:
    """Whether this slot has been begun here, or what it belongs to needs no more of it."""
    return any(_ends(run, slot) for run in past if _is_same_work(run, slot))


def _is_same_work(run: PastRun, slot: Slot) -> bool:
    return (run.workflow_id, run.occurrence) == (slot.placement.workflow_id, slot.occurrence)


def _ends(run: PastRun, slot: Slot) -> bool:
    """A success ends the occurrence, any other end its attempt, a pause its piece alone."""
    if run.status == "success" or run.attempt > slot.placement.attempt:
        return True
    return run.attempt == slot.placement.attempt and (run.status != "paused" or run.piece == slot.piece)


def first_due(found: Iterable[Standing]) -> Slot | None:
    """The slot to begin now: the one that can wait least."""
    return next((one.slot for one in found if one.state is State.DUE), None)


def others_begin_by(found: Iterable[Standing], slot: Slot) -> datetime | None:
    """When something else has to begin at the latest."""
    waiting = (State.DUE, State.LATER, State.HELD)
    return min((one.slot.latest for one in found if one.slot != slot and one.state in waiting), default=None)


def next_start(found: Iterable[Standing]) -> Slot | None:
    """The slot that begins next."""
    ahead = [one.slot for one in found if one.state is State.LATER]
    return min(ahead, key=lambda slot: slot.start, default=None)
