"""When and for how long a placement may run on this box. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from asyncenergy_controller.server import Piece, Placement, Schedule
from asyncenergy_controller.server.schedule import SHARED_MACHINE

LEAST_RUN = timedelta(seconds=60)
"""A run always has this long: work of a second must not be ended by the time that its start takes."""
OVERRUN = 1.25
"""What is reserved is enough for nine runs of ten; the tenth is not worth ending for a little more of its time."""
LATE_GRACE = timedelta(seconds=60)
"""A start that waits this long for a tick, or for the job before it, isn't late."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One stretch in which one attempt at one occurrence runs without a break; several for an interruptible one."""

    placement: Placement
    version: int
    """Of the schedule that it stands in."""
    start: datetime
    latest: datetime
    """It isn't begun after this."""
    length: timedelta
    is_last: bool
    """What isn't done when it ends is not done."""
    is_part: bool
    """One of several: the work is interrupted after or before it."""

    @property
    def occurrence(self) -> str:
        """What tells one occurrence of a workflow from the others; without an id, its start as it was written."""
        return self.placement.occurrence_id or self.placement.start_text

    @property
    def piece(self) -> str:
        """What tells one piece from the others; a piece that has begun keeps its start in every version."""
        return self.start.isoformat(timespec="seconds")

    def ends(self, begun: datetime, others: datetime | None = None) -> datetime:
        """When the run is ended that begins at `begun`: never in the next piece, never late for the deadline.

        It has the time that was reserved, and a quarter more where other work can wait: that has to begin by `others`.
        """
        if not self.is_last:
            return self.start + self.length
        reserved = begun + max(self.length, LEAST_RUN)
        deadline = self.placement.deadline
        if deadline is None:
            return reserved
        longest = begun + OVERRUN * self.length
        ends = max(reserved, longest if others is None else min(longest, others))
        return min(ends, max(deadline, begun + LEAST_RUN))


def slots_of(schedule: Schedule, box: str) -> Iterator[Slot]:
    """Every stretch of a schedule that is this box's, past its validity at the latest time that meets the deadline.

    The server leaves out what is another box's, as long as nobody between us takes our name off the question.
    """
    for placement in schedule.placements:
        if placement.machine not in (SHARED_MACHINE, box):
            continue
        pieces = _valid_pieces(placement, schedule.valid_until)
        for piece in pieces:
            yield Slot(
                placement=placement,
                version=schedule.version,
                start=piece.start,
                latest=_latest(placement, piece, is_part=len(pieces) > 1),
                length=piece.end - piece.start,
                is_last=piece is pieces[-1],
                is_part=len(placement.pieces) > 1,
            )


def _valid_pieces(placement: Placement, valid_until: datetime) -> tuple[Piece, ...]:
    """The pieces as planned up to `valid_until`; what was to run after it, in one, as late as the deadline allows."""
    rest = sum((piece.end - piece.start for piece in placement.pieces if piece.start >= valid_until), timedelta())
    kept = tuple(piece for piece in placement.pieces if piece.start < valid_until)
    if not rest or placement.deadline is None:
        return placement.pieces
    return (*kept, Piece(placement.deadline - rest, placement.deadline))


def _latest(placement: Placement, piece: Piece, *, is_part: bool) -> datetime:
    length = piece.end - piece.start
    if is_part:
        return piece.end - min(LEAST_RUN, length / 2)
    latest = placement.latest_start or (placement.deadline - length if placement.deadline else placement.end)
    return max(latest, piece.start) + LATE_GRACE
