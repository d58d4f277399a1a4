"""From what is to be done to the optimizer's terms, and back. Pure.

An occurrence that has begun stays where it is. Of an interruptible one the pieces that are over or about to begin stay,
and only the rest is placed anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import fsum

from scheduling.optimizer import Job, Mode, Piece, Placement
from scheduling.predictor import Prediction, Profile

SHARED_MACHINE = "shared"
FREEZE = timedelta(minutes=2)
"""What begins this soon is left alone: a controller has read its start, and may not read another in time."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where an occurrence stands in the newest version."""

    pieces: tuple[Piece, ...]
    profile: Profile
    reserved_s: float
    predicted_wh: float
    cost: float
    cap_w: float | None = None


@dataclass(frozen=True, slots=True)
class Cap:
    """A slower run under a power cap: how much longer it takes, and what it draws, against running without."""

    cap_w: float
    slowdown: float
    power_ratio: float


@dataclass(frozen=True, slots=True)
class Work:
    """One occurrence to be planned."""

    id: str
    earliest_start: datetime
    deadline: datetime
    machine: str
    prediction: Prediction
    priority: int = 0
    interruptible: bool = False
    min_run_s: float = 0.0
    restart_wh: float = 0.0
    caps: tuple[Cap, ...] = ()
    placed: Placed | None = None
    is_started: bool = False
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class Arranged:
    """The optimizer's jobs, and what is pinned. `kept`: pieces by occurrence that stay before the new ones."""

    jobs: tuple[Job, ...]
    pinned: tuple[Placement, ...]
    kept: Mapping[str, tuple[Piece, ...]] = field(default_factory=dict)


def whole_second(instant: datetime) -> datetime:
    """Round up, so that every start falls on a whole second and is written without a fraction."""
    floor = instant.replace(microsecond=0)
    return floor if floor == instant else floor + timedelta(seconds=1)


def arranged(works: Sequence[Work], *, now: datetime, capacity: Mapping[str, int], limited: bool = False) -> Arranged:
    """Return what the optimizer is asked at `now`; `limited` where a watt limit holds over all machines."""
    jobs: list[Job] = []
    pinned: list[Placement] = []
    kept: dict[str, tuple[Piece, ...]] = {}
    # what has begun goes first, then what shall begin at once, so that both find their machines free
    for work in sorted(works, key=lambda work: (not begun(work, now), not work.at_once, work.id)):
        stays = begun(work, now)
        at_once = _at_once(work, now, capacity, pinned) if work.at_once and not stays else None
        if at_once is not None:
            # what was placed for another time, and perhaps of another length, says nothing of this run
            pinned.append(_kept(replace(work, placed=None), at_once, work.id))
        elif stays and work.placed and (not work.interruptible or stays == work.placed.pieces):
            pinned.append(_kept(work, work.placed.pieces, work.id))
        elif stays:
            kept[work.id] = stays
            pinned.append(_kept(work, stays, f"{work.id}/begun"))
            jobs.append(_job(work, after=stays[-1].end, finished_s=seconds_of(stays), limited=limited))
        else:
            jobs.append(_job(work, after=now, limited=limited))
        if pinned and pinned[-1].id == work.id and not work.interruptible:
            jobs.append(_fixed_job(work, pinned[-1]))
    return Arranged(tuple(sorted(jobs, key=lambda job: job.id)), tuple(sorted(pinned, key=lambda p: p.id)), kept)


def begun(work: Work, now: datetime) -> tuple[Piece, ...]:
    """Return the pieces that can't be moved any more: those that are over, that run, or that begin at any moment."""
    if work.placed is None:
        return ()
    if work.is_started and not work.interruptible:
        return work.placed.pieces
    return tuple(piece for piece in work.placed.pieces if piece.start <= now + FREEZE)


def seconds_of(pieces: Sequence[Piece]) -> float:
    return fsum((piece.end - piece.start).total_seconds() for piece in pieces)


def _kept(work: Work, pieces: tuple[Piece, ...], job_id: str) -> Placement:
    """A placement that stays; of an interruptible run the part of its energy that these pieces have."""
    placed = work.placed
    share = seconds_of(pieces) / seconds_of(placed.pieces) if placed else 1.0
    energy_wh = share * (placed.predicted_wh if placed else work.prediction.energy_wh)
    mode = Mode(seconds_of(pieces), placed.profile if placed else work.prediction.profile)
    return Placement(job_id, work.machine, mode, pieces, energy_wh, share * (placed.cost if placed else 0.0))


def _fixed_job(work: Work, kept: Placement) -> Job:
    """What stays, as a job whose window is its place: the optimizer then prices its profile and not its mean."""
    mode = kept.mode
    return Job(work.id, mode.duration_s, mode.power_w, kept.start, kept.end, work.priority, work.machine)


def _job(work: Work, *, after: datetime, finished_s: float = 0.0, limited: bool = False) -> Job:
    """An interruptible run draws the same throughout; only under a watt limit its power counts more than its energy."""
    prediction = work.prediction
    reserve_s = max(prediction.reserve_s - finished_s, 1.0)
    even_w = prediction.mean_w if limited else prediction.energy_wh * 3600 / prediction.reserve_s
    own = Job(
        id=work.id,
        duration_s=reserve_s,
        power_w=even_w if work.interruptible else prediction.profile,
        earliest_start=whole_second(max(work.earliest_start, after)),
        deadline=work.deadline,
        priority=work.priority,
        machine=work.machine,
        interruptible=work.interruptible,
        min_run_s=min(work.min_run_s, reserve_s),
        restart_wh=work.restart_wh,
    )
    return own if work.interruptible else replace(own, modes=tuple(_mode(prediction, cap) for cap in work.caps))


def _mode(prediction: Prediction, cap: Cap) -> Mode:
    """The same work, stretched and lowered; steps stay on whole seconds."""
    steps = tuple((float(round(s * cap.slowdown)) or 1.0, w * cap.power_ratio) for s, w in prediction.profile)
    duration_s = max(float(round(prediction.reserve_s * cap.slowdown)), fsum(s for s, _ in steps))
    return Mode(duration_s, steps, label=f"{cap.cap_w:g} W")


def cap_of(work: Work, mode: Mode) -> float | None:
    """The power cap that a chosen mode stands for."""
    return next((cap.cap_w for cap in work.caps if f"{cap.cap_w:g} W" == mode.label), None)


def _at_once(
    work: Work, now: datetime, capacity: Mapping[str, int], pinned: Sequence[Placement]
) -> tuple[Piece] | None:
    """The first moment at which the machine has room; None where that would be too late."""
    length = timedelta(seconds=work.prediction.reserve_s)
    busy = [piece for p in pinned if p.machine == work.machine for piece in p.pieces]
    for start in sorted({whole_second(now), *(piece.end for piece in busy if piece.end > now)}):
        piece = Piece(start, start + length)
        if _most_together(piece, busy) < capacity.get(work.machine, 1):
            return (piece,) if piece.end <= work.deadline else None
    return None


def _most_together(piece: Piece, busy: Sequence[Piece]) -> int:
    """How many of `busy` run at once at the busiest moment of `piece`."""
    moments = [piece.start, *(other.start for other in busy if piece.start < other.start < piece.end)]
    return max(sum(other.start <= at < other.end for other in busy) for at in moments)


def latest_start(work: Work, reserved_s: float) -> datetime:
    """The last moment at which the whole work still meets its deadline."""
    return work.deadline - timedelta(seconds=reserved_s)
