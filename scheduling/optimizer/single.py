"""One job, exactly, beside whatever else already runs."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from scheduling.optimizer.curve import Curve, Floats, Ints
from scheduling.optimizer.pieces import cheapest_pieces, earliest_pieces
from scheduling.optimizer.problem import Option, Problem, Run, Task
from scheduling.optimizer.room import Room, forbidden_starts, room_on

TIE = 1e-12


@dataclass(frozen=True)
class Found:
    """A run with what it is judged by: money, then the end; nearly equal money counts as equal."""

    run: Run
    cost: float

    def beats(self, other: "Found | None", tolerance: float) -> bool:
        if other is None or abs(self.cost - other.cost) > tolerance:
            return other is None or self.cost < other.cost
        return self.run.end < other.run.end


def tie_tolerance(curve: Curve, option: Option) -> float:
    """Differences of money below this are rounding, not savings."""
    energy_kwh = max(option.peak_w, 1.0) / 1000 * option.duration / 3.6e9
    return TIE * energy_kwh * float(np.abs(curve.price).max(initial=0.0)) + 1e-15


def start_costs(curve: Curve, option: Option, starts: Ints) -> Floats:
    """Money of a contiguous run for each start."""
    total = np.zeros(len(starts))
    for begin, end, watts in option.steps:
        if watts:
            total += (curve.until(starts + end) - curve.until(starts + begin)) * (watts / 1000)
    return total


def bends(edges: Ints, option: Option, lo: int, hi: int) -> Ints:
    """Starts in [lo, hi] where the cost of a contiguous run can bend, with both ends of the window."""
    shifted = (edges[:, None] - np.array(option.offsets, dtype=np.int64)).ravel()
    return np.unique(np.concatenate(([lo, hi], shifted[(shifted > lo) & (shifted < hi)]))).astype(np.int64)


def allowed_starts(task: Task, option: Option, curve: Curve, room: Room) -> Ints:
    """Return the candidates of the exact search: bends of the cost and ends of what is forbidden."""
    lo, hi = task.lo, task.deadline - option.duration
    if hi < lo:
        return np.empty(0, dtype=np.int64)
    forbidden = forbidden_starts(room, option)
    extra = forbidden.edges
    starts = np.union1d(bends(curve.edges, option, lo, hi), extra[(extra > lo) & (extra < hi)])
    return starts[forbidden.allows(starts)]


def first_cheapest(costs: Floats, tolerance: float) -> int:
    """Index of the first cost within `tolerance` of the least one."""
    return int(np.flatnonzero(costs <= costs.min() + tolerance)[0])


def best_on(problem: Problem, task: Task, option: Option, machine: str, room: Room) -> Found | None:
    """Return the cheapest run of `task` on `machine` in the given way, the earliest of equals."""
    if task.interruptible:
        pieces = cheapest_pieces(task, option, problem.curve, room)
        run = Run(task, machine, option, pieces) if pieces else None
        return Found(run, run.cost(problem.curve)) if run else None
    starts = allowed_starts(task, option, problem.curve, room)
    if not len(starts):
        return None
    costs = start_costs(problem.curve, option, starts)
    best = first_cheapest(costs, tie_tolerance(problem.curve, option))
    start = int(starts[best])
    return Found(Run(task, machine, option, ((start, start + option.duration),)), float(costs[best]))


def best_run(problem: Problem, task: Task, runs: Iterable[Run] = ()) -> Found | None:
    """Return the cheapest run of `task` beside `runs`, over its machines and modes; None where there is no room."""
    best: Found | None = None
    others = list(runs)
    for machine in task.machines:
        room = room_on(problem, machine, others)
        for option in task.options:
            found = best_on(problem, task, option, machine, room)
            if found and found.beats(best, tie_tolerance(problem.curve, option)):
                best = found
    return best


def earliest_run(problem: Problem, task: Task, runs: Iterable[Run] = ()) -> Run | None:
    """Return the run that ends first, beside `runs`; None where there is no room."""
    others = list(runs)
    found: list[Run] = []
    for machine in task.machines:
        room = room_on(problem, machine, others)
        found += [run for option in task.options if (run := _earliest_on(problem, task, option, machine, room))]
    return min(found, key=lambda run: (run.end, run.start), default=None)


def _earliest_on(problem: Problem, task: Task, option: Option, machine: str, room: Room) -> Run | None:
    if task.interruptible and (pieces := earliest_pieces(task, option, room)):
        return Run(task, machine, option, pieces)
    starts = allowed_starts(task, option, problem.curve, room)
    return Run(task, machine, option, ((int(starts[0]), int(starts[0]) + option.duration),)) if len(starts) else None
