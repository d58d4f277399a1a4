"""Which starts the integer programme may choose from."""

from collections.abc import Iterable, Sequence

import numpy as np

from scheduling.optimizer.curve import HOUR, MINUTE, Ints
from scheduling.optimizer.problem import Option, Problem, Task
from scheduling.optimizer.room import room_on
from scheduling.optimizer.single import allowed_starts

GRIDS = (5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR)
MOST_COLUMNS = 20_000
SMALL = 4_000
MOST_SUMS = 4_000

Key = tuple[str, int]
"""Task id and the index of its option."""
StartSets = dict[Key, Ints]


def start_sets(problem: Problem, slots: Ints) -> StartSets:
    """Return the starts to choose from, for each task and option that runs in one piece; with slots, theirs.

    Some cheapest plan is made of blocks of touching jobs, and in each block one job begins or ends where its own cost
    bends. If the starts that this allows are few, they are all there is to look at; else the finest grid that is quick.
    """
    tasks = [task for task in problem.tasks if not task.interruptible]
    bases = {key: _bases(problem, task, option) for task in tasks for key, option in keyed(task)}
    if len(slots):
        return {key: _with_ends(base, slots) for key, base in bases.items()}
    grid = next((sets for step in GRIDS if _size(sets := _on_grid(tasks, step)) <= MOST_COLUMNS), None)
    grid = grid if grid is not None else _on_grid(tasks, GRIDS[-1])
    chained = _chained(tasks, bases, min(max(SMALL, _size(grid)), MOST_COLUMNS))
    return chained or {key: np.union1d(starts, bases[key]) for key, starts in grid.items()}


def keyed(task: Task) -> list[tuple[Key, Option]]:
    return [((task.id, i), option) for i, option in enumerate(task.options)]


def _bases(problem: Problem, task: Task, option: Option) -> Ints:
    found = [allowed_starts(task, option, problem.curve, room_on(problem, m, ())) for m in task.machines]
    return np.unique(np.concatenate(found))


def _with_ends(base: Ints, slots: Ints) -> Ints:
    if not len(base):
        return base
    return np.union1d(slots[(slots >= base[0]) & (slots <= base[-1])], base[[0, -1]])


def _size(sets: StartSets) -> int:
    return sum(len(starts) for starts in sets.values())


def _on_grid(tasks: Iterable[Task], step: int) -> StartSets:
    return {
        key: np.arange(-(-task.lo // step) * step, task.deadline - option.duration + 1, step, dtype=np.int64)
        for task in tasks
        for key, option in keyed(task)
    }


def _chained(tasks: Sequence[Task], bases: StartSets, most: int) -> StartSets | None:
    """Return every start that a block of touching jobs allows; None where there are more than `most`."""
    sets: StartSets = {}
    for task in tasks:
        for key, option in keyed(task):
            starts = _reachable(task, option, tasks, bases)
            if starts is None:
                return None
            sets[key] = np.union1d(starts, bases[key])
            if _size(sets) > most:
                return None
    return sets


def _reachable(task: Task, option: Option, tasks: Sequence[Task], bases: StartSets) -> Ints | None:
    lo, hi = task.lo, task.deadline - option.duration
    found = [np.empty(0, dtype=np.int64)]
    for other in tasks:
        if other is task:
            continue
        sums = _sums(
            [t for t in tasks if len(tasks) > 8 or (t is not task and t is not other)],
            hi - lo + other.deadline - other.lo,
        )
        if sums is None:
            return None
        for key, way in keyed(other):
            after = (bases[key][:, None] + way.duration + sums).ravel()
            before = (bases[key][:, None] - option.duration - sums).ravel()
            both = np.concatenate((after, before))
            found.append(np.unique(both[(both >= lo) & (both <= hi)]))
    return np.unique(np.concatenate(found))


def _sums(tasks: Iterable[Task], most: int) -> Ints | None:
    """Every sum of durations of some of `tasks`, up to `most`; None where they are too many."""
    sums = np.zeros(1, dtype=np.int64)
    for task in tasks:
        longer = [sums + option.duration for option in task.options]
        sums = np.unique(np.concatenate((sums, *longer)))
        sums = sums[sums <= most]
        if len(sums) > MOST_SUMS:
            return None
    return sums
