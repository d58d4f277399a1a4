"""From a plan on a grid to the exact instants: slide a machine's runs together, then move each run on its own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from math import fsum

import numpy as np

from scheduling.optimizer.curve import HOUR, Floats, Ints
from scheduling.optimizer.places import watts_fit
from scheduling.optimizer.problem import Problem, Run
from scheduling.optimizer.room import forbidden_starts, room_on
from scheduling.optimizer.single import allowed_starts, best_run, start_costs, tie_tolerance

ROUNDS = 4
MOST_STARTS = 200_000
SAME_MONEY = 1e-11


def total_cost(problem: Problem, runs: Sequence[Run]) -> float:
    return fsum(run.cost(problem.curve) for run in runs)


def sum_of_ends(runs: Sequence[Run]) -> int:
    return sum(run.end for run in runs)


def is_better(problem: Problem, runs: Sequence[Run], than: Sequence[Run]) -> bool:
    """Less money, or the same money and an earlier sum of ends."""
    saved = total_cost(problem, than) - total_cost(problem, runs)
    if abs(saved) > SAME_MONEY:
        return saved > 0
    return sum_of_ends(runs) < sum_of_ends(than)


def polished(problem: Problem, runs: Sequence[Run]) -> list[Run]:
    """Return the plan improved as far as sliding and single moves go; it never gets dearer."""
    best = list(runs)
    for _ in range(ROUNDS):
        moved = _neighbours_swapped(problem, _each_alone(problem, _slid(problem, best)))
        if not is_better(problem, moved, best):
            break
        best = moved
    return best


def _each_alone(problem: Problem, runs: list[Run]) -> list[Run]:
    """Give each run its best place beside the others as they are."""
    for i, run in enumerate(runs):
        others = [*runs[:i], *runs[i + 1 :]]
        found = best_run(problem, run.task, others)
        if found and is_better(problem, [found.run], [run]):
            runs = [*runs[:i], found.run, *runs[i + 1 :]]
    return runs


def _slid(problem: Problem, runs: list[Run]) -> list[Run]:
    """Slide the runs of each lane in turn, their order kept."""
    for lane in _lanes(problem, runs):
        others = [run for run in runs if all(run is not mine for mine in lane)]
        better = slide(problem, lane, others)
        if better and is_better(problem, better, lane):
            runs = [*others, *better]
    return sorted(runs, key=lambda run: run.task.id)


def _neighbours_swapped(problem: Problem, runs: list[Run]) -> list[Run]:
    """Let two runs that follow each other change their order where that is cheaper, or as cheap and earlier."""
    plan = runs
    while better := next(_turns(problem, plan), None):
        plan = better
    return plan


def _turns(problem: Problem, runs: list[Run]) -> Iterator[list[Run]]:
    """The better plans that come from one turn of neighbours."""
    touching = [pair for lane in _lanes(problem, runs) for pair in pairwise(lane) if pair[0].end == pair[1].start]
    return (plan for first, second in touching if (plan := _turned(problem, runs, first, second)))


def _turned(problem: Problem, runs: Sequence[Run], first: Run, second: Run) -> list[Run] | None:
    middle = first.start + second.option.duration
    new = [
        replace(second, pieces=((first.start, middle),)),
        replace(first, pieces=((middle, second.end),)),
    ]
    if not all(_fits_window(run) for run in new) or not is_better(problem, new, [first, second]):
        return None
    plan = [next((n for n in new if n.task is run.task), run) for run in runs]
    return plan if watts_fit(problem, plan) else None


def _lanes(problem: Problem, runs: Sequence[Run]) -> list[list[Run]]:
    """Runs in one piece by machine; a machine for several at once has as many lanes."""
    lanes: list[list[Run]] = []
    for machine in problem.capacity:
        mine: list[list[Run]] = []
        for run in sorted(runs, key=lambda run: (run.start, run.task.id)):
            if run.machine == machine and not run.task.interruptible:
                free = next((lane for lane in mine if lane[-1].end <= run.start), None)
                if free is None:
                    mine.append(free := [])
                free.append(run)
        lanes += mine
    return lanes


@dataclass(frozen=True, eq=False)
class _Stage:
    """The starts of one run of the lane, the least total up to it, and which start of the run before leads there."""

    starts: Ints
    total: Floats
    came_from: Ints


def slide(problem: Problem, lane: Sequence[Run], others: Sequence[Run]) -> list[Run] | None:
    """Return the cheapest instants for the lane's runs in their order, beside `others`, over all real starts."""
    room = room_on(problem, lane[0].machine, others)
    bases = [allowed_starts(run.task, run.option, problem.curve, room) for run in lane]
    lengths = np.array([run.option.duration for run in lane])
    reach = max(1, MOST_STARTS // max(1, sum(len(base) for base in bases)))
    stages: list[_Stage] = []
    for k, run in enumerate(lane):
        starts = _shifted(bases, lengths, k, reach)
        starts = starts[(starts >= run.task.lo) & (starts <= run.task.deadline - run.option.duration)]
        starts = np.union1d(starts[forbidden_starts(room, run.option).allows(starts)], [run.start])
        stages.append(_stage(problem, run, starts, stages, lane))
    return _walk_back(lane, stages) if np.isfinite(stages[-1].total).any() else None


def _shifted(bases: Sequence[Ints], lengths: Ints, k: int, reach: int) -> Ints:
    """Where run k may start: its own bends, and its neighbours' moved by what lies between."""
    found = [bases[k]]
    for i in range(max(0, k - reach), min(len(bases), k + reach + 1)):
        between = lengths[i:k].sum() if i < k else -lengths[k:i].sum()
        found.append(bases[i] + between)
    return np.unique(np.concatenate(found))


def _stage(problem: Problem, run: Run, starts: Ints, before: Sequence[_Stage], lane: Sequence[Run]) -> _Stage:
    # Money decides; the sum of ends is weighed so lightly that all of it is less than a billionth.
    light = 5e-10 / (len(lane) * max(problem.curve.end - problem.curve.start, HOUR))
    own = start_costs(problem.curve, run.option, starts) + light * (starts - problem.curve.start)
    if not before:
        return _Stage(starts, own, np.zeros(len(starts), dtype=np.int64))
    last, duration = before[-1], lane[len(before) - 1].option.duration
    least = np.minimum.accumulate(last.total)
    fresh = np.concatenate(([True], last.total[1:] < least[:-1]))
    source = np.maximum.accumulate(np.where(fresh, np.arange(len(fresh)), 0))
    latest = np.searchsorted(last.starts + duration, starts, side="right") - 1
    reachable = latest >= 0
    total = np.where(reachable, own + least[np.maximum(latest, 0)], np.inf)
    return _Stage(starts, total, source[np.maximum(latest, 0)])


def _walk_back(lane: Sequence[Run], stages: Sequence[_Stage]) -> list[Run]:
    index = int(np.argmin(stages[-1].total))
    runs: list[Run] = []
    for run, stage in zip(reversed(lane), reversed(stages), strict=True):
        start = int(stage.starts[index])
        runs.append(Run(run.task, run.machine, run.option, ((start, start + run.option.duration),)))
        index = int(stage.came_from[index])
    return runs[::-1]


def in_order_of_ids(problem: Problem, runs: Sequence[Run]) -> list[Run]:
    """Of two equally long runs that can change places for the same money, let the smaller id go first."""
    ordered = sorted(runs, key=lambda run: run.task.id)
    pairs = list(combinations(range(len(ordered)), 2))
    while swapped := next((s for i, j in pairs if (s := _swapped(problem, ordered, ordered[i], ordered[j]))), None):
        ordered = swapped
    return ordered


def _swapped(problem: Problem, runs: Sequence[Run], first: Run, second: Run) -> list[Run] | None:
    """Return the plan with the two runs in each other's places, if that is sound, as cheap, and puts `first` first."""
    same_length = first.option.duration == second.option.duration and len(first.pieces) == len(second.pieces) == 1
    if not same_length or first.start <= second.start or first.task.priority != second.task.priority:
        return None
    new = [Run(a.task, b.machine, a.option, b.pieces) for a, b in ((first, second), (second, first))]
    money = abs(total_cost(problem, new) - total_cost(problem, [first, second]))
    if money > tie_tolerance(problem.curve, first.option) or not all(_fits_window(run) for run in new):
        return None
    plan = [next((n for n in new if n.task is run.task), run) for run in runs]
    return plan if watts_fit(problem, plan) else None


def _fits_window(run: Run) -> bool:
    return run.task.lo <= run.start and run.end <= run.task.deadline and run.machine in run.task.machines
