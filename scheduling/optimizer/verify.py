"""A second opinion: checks a plan from its datetimes alone and shares no code with the solver."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from math import fsum

from scheduling.optimizer.types import Job, Mode, Piece, Placement, Plan, PricePoint

MONEY = 1e-9
LENGTH_S = 2e-6
WATTS = 1e-5


def verify(
    plan: Plan,
    prices: Sequence[PricePoint],
    jobs: Sequence[Job],
    *,
    now: datetime | None = None,
    capacity: int | Mapping[str, int] = 1,
    watt_limit: float | None = None,
) -> list[str]:
    """Return what is wrong with `plan`, in sentences; empty for a sound plan. Every cost is counted again."""
    known = {job.id: job for job in jobs}
    free = [placement for placement in plan.placements if placement.id not in plan.pinned]
    wrong = _roll_call(plan, known)
    for placement in plan.placements:
        job = known.get(placement.id)
        wrong += _pieces(placement)
        if job is not None:
            wrong += _shape(placement, job)
            wrong += _money(placement, job, prices, may_lack_prices=placement.id in plan.pinned)
    for placement in free:
        if placement.id in known:
            wrong += _window(placement, known[placement.id], now)
        wrong += _priced(placement, prices)
    wrong += _together(plan, known, free, capacity, watt_limit)
    return wrong + _sums(plan)


def _roll_call(plan: Plan, known: Mapping[str, Job]) -> list[str]:
    """Every job is placed once or declared infeasible once."""
    listed = [p.id for p in plan.placements] + [i.id for i in plan.infeasible]
    wrong = [f"job {i!r} appears {listed.count(i)} times" for i in sorted(set(listed)) if listed.count(i) > 1]
    wrong += [f"job {i!r} is missing" for i in sorted(set(known) - set(listed))]
    strangers = set(listed) - set(known) - set(plan.pinned)
    return wrong + [f"job {i!r} is not among the jobs" for i in sorted(strangers)]


def _pieces(placement: Placement) -> list[str]:
    pieces = placement.pieces
    if not pieces:
        return [f"job {placement.id!r} has no pieces"]
    wrong = [f"job {placement.id!r}: a piece ends before it begins" for p in pieces if _seconds(p) <= 0]
    overlaps = any(a.end.astimezone(UTC) > b.start.astimezone(UTC) for a, b in pairwise(pieces))
    return wrong + ([f"job {placement.id!r}: its pieces overlap or are out of order"] if overlaps else [])


def _seconds(piece: Piece) -> float:
    return (piece.end.astimezone(UTC) - piece.start.astimezone(UTC)).total_seconds()


def _shape(placement: Placement, job: Job) -> list[str]:
    """The mode is one of the job's, the length is the mode's, the pieces are few and long enough."""
    wrong: list[str] = []
    if placement.mode not in (*job.modes, Mode(job.duration_s, job.power_w)):
        wrong.append(f"job {job.id!r} has no mode {placement.mode}")
    length = sum(_seconds(piece) for piece in placement.pieces)
    if abs(length - placement.mode.duration_s) > LENGTH_S:
        wrong.append(f"job {job.id!r} runs {length} s of {placement.mode.duration_s} s")
    if len(placement.pieces) > 1 and not job.interruptible:
        wrong.append(f"job {job.id!r} is interrupted")
    least = min(job.min_run_s, placement.mode.duration_s)
    if job.interruptible and any(_seconds(piece) < least - LENGTH_S for piece in placement.pieces):
        wrong.append(f"job {job.id!r}: a piece is shorter than {least} s")
    if job.machine and placement.machine != job.machine:
        wrong.append(f"job {job.id!r} runs on {placement.machine!r}, not on {job.machine!r}")
    return wrong


def _window(placement: Placement, job: Job, now: datetime | None) -> list[str]:
    wrong: list[str] = []
    start, end = placement.start.astimezone(UTC), placement.end.astimezone(UTC)
    if start < job.earliest_start.astimezone(UTC):
        wrong.append(f"job {job.id!r} starts before its earliest start")
    if end > job.deadline.astimezone(UTC):
        wrong.append(f"job {job.id!r} ends after its deadline")
    if now is not None and start < now.astimezone(UTC):
        wrong.append(f"job {job.id!r} starts in the past")
    return wrong


def _steps(placement: Placement, job: Job | None) -> list[tuple[float, float, float]]:
    """(begin, end, watts) in seconds since 1970."""
    spans = [(p.start.timestamp(), p.end.timestamp()) for p in placement.pieces]
    if job is None:
        mean = placement.energy_wh * 3600 / sum(end - begin for begin, end in spans)
        return [(begin, end, mean) for begin, end in spans]
    power = placement.mode.power_w
    if isinstance(power, int | float):
        return [(begin, end, float(power)) for begin, end in spans]
    if job.interruptible:
        return [(begin, end, float(power[0][1])) for begin, end in spans]
    steps, begin = [], spans[0][0]
    for seconds, watts in power:
        steps.append((begin, begin + seconds, float(watts)))
        begin += seconds
    return steps


def _priced(placement: Placement, prices: Sequence[PricePoint]) -> list[str]:
    for piece in placement.pieces:
        begin, end = piece.start.timestamp(), piece.end.timestamp()
        known = fsum(_shared(begin, end, point) for point in prices)
        if end - begin - known > LENGTH_S:
            return [f"job {placement.id!r} runs {end - begin - known} s without a known price"]
    return []


def _shared(begin: float, end: float, point: PricePoint) -> float:
    return max(0.0, min(end, point.end.timestamp()) - max(begin, point.start.timestamp()))


def _money(placement: Placement, job: Job, prices: Sequence[PricePoint], *, may_lack_prices: bool) -> list[str]:
    """Count energy and money again. What has begun may lie in hours whose prices are gone: then its cost stands."""
    wrong: list[str] = []
    steps = _steps(placement, job)
    restarts = placement.pieces[1:] if job.restart_wh else ()
    energy = fsum([*((end - begin) * watts / 3600 for begin, end, watts in steps), job.restart_wh * len(restarts)])
    if abs(energy - placement.energy_wh) > 1e-6 * max(1.0, energy):
        wrong.append(f"job {job.id!r}: its energy is {energy} Wh, not {placement.energy_wh}")
    if may_lack_prices and _priced(placement, prices):
        return wrong
    money = [
        point.price_per_kwh * watts / 3.6e6 * _shared(begin, end, point)
        for begin, end, watts in steps
        for point in prices
    ]
    money += [job.restart_wh / 1000 * max(0.0, _price_at(piece.start, prices)) for piece in restarts]
    cost = fsum(money)
    if abs(cost - placement.cost) > MONEY * max(1.0, abs(cost)):
        wrong.append(f"job {job.id!r} costs {cost}, not {placement.cost}")
    return wrong


def _price_at(moment: datetime, prices: Sequence[PricePoint]) -> float:
    at = moment.timestamp()
    return next((p.price_per_kwh for p in prices if p.start.timestamp() <= at < p.end.timestamp()), 0.0)


def _together(
    plan: Plan,
    known: Mapping[str, Job],
    free: Sequence[Placement],
    capacity: int | Mapping[str, int],
    watt_limit: float | None,
) -> list[str]:
    """Machines and the watt limit hold at every instant at which something that was placed begins or draws power."""
    wrong: list[str] = []
    for machine in sorted({p.machine for p in plan.placements}):
        most = capacity.get(machine, 1) if isinstance(capacity, Mapping) else capacity
        everything = [(*_span(piece), 1.0) for p in plan.placements if p.machine == machine for piece in p.pieces]
        ours = [(*_span(piece), 1.0) for p in free if p.machine == machine for piece in p.pieces]
        if _peak(everything, ours) > most:
            wrong.append(f"machine {machine!r} runs more than {most} at once")
    if watt_limit is not None:
        everything = [step for p in plan.placements for step in _steps(p, known.get(p.id))]
        ours = [step for p in free for step in _steps(p, known.get(p.id)) if step[2] > 0]
        if (peak := _peak(everything, ours)) > watt_limit + WATTS:
            wrong.append(f"{peak} W at once, above the limit of {watt_limit} W")
    return wrong


def _span(piece: Piece) -> tuple[float, float]:
    return piece.start.timestamp(), piece.end.timestamp()


def _peak(steps: Sequence[tuple[float, float, float]], ours: Iterable[tuple[float, float, float]]) -> float:
    """The highest sum of `steps` at any instant at which one of `ours` is on."""
    mine = list(ours)
    instants = [begin for begin, _, _ in steps if any(a <= begin + LENGTH_S < b for a, b, _ in mine)]
    return max((sum(w for a, b, w in steps if a <= at + LENGTH_S < b) for at in instants), default=0.0)


def _sums(plan: Plan) -> list[str]:
    wrong: list[str] = []
    total = fsum(placement.cost for placement in plan.placements)
    if abs(total - plan.cost) > MONEY * max(1.0, abs(total)):
        wrong.append(f"the placements cost {total}, the plan says {plan.cost}")
    if plan.lower_bound > plan.cost + MONEY:
        wrong.append(f"the lower bound {plan.lower_bound} is above the cost {plan.cost}")
    return wrong
