"""Which starts the integer programme may choose from."""

from collections.abc import Iterable, Sequence
from math import gcd

import numpy as np

from scheduling.optimizer.curve import HOUR, MINUTE, Ints
from scheduling.optimizer.problem import Option, Problem, Task
from scheduling.optimizer.room import room_on
from scheduling.optimizer.single import allowed_starts

GRIDS = (5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR)
MOST_COLUMNS = 20_000
SMALL = 4_000
MOST_SUMS = 4_000
MOST_ENTRIES = 60_000
FEW = 8  # tasks up to which it pays to leave both ends of a chain out of its middle

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
    grid = _finest_quick_grid(bases)
    common = _common_grid(tasks, bases, GRIDS[0])
    if common is not None and _size(common) <= _size(grid):
        return common
    chained = _chained(tasks, bases, min(max(SMALL, _size(grid)), MOST_COLUMNS))
    if chained is not None and _entries(tasks, chained) <= max(MOST_ENTRIES, _entries(tasks, grid)):
        return chained
    return grid


def every_start(problem: Problem, most: int) -> StartSets | None:
    """Return all starts that a block of touching jobs allows, as whole steps; None where a job has more than `most`."""
    bases = {key: _bases(problem, task, option) for task in problem.tasks for key, option in keyed(task)}
    longest = max((int(base[-1] - base[0]) for base in bases.values() if len(base)), default=0)
    return _common_grid(problem.tasks, bases, max(longest // most, 1))


def _entries(tasks: Iterable[Task], sets: StartSets) -> float:
    """About how many non-zeros the programme has: each start meets every other within its duration."""
    if not sets:
        return 0.0
    every = np.unique(np.concatenate(list(sets.values())))
    length = max(1, int(every[-1] - every[0])) if len(every) else 1
    return sum(len(sets[key]) * len(every) * min(1.0, o.duration / length) for t in tasks for key, o in keyed(t))


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


def _finest_quick_grid(bases: StartSets) -> StartSets:
    sets: StartSets = {}
    for step in GRIDS:
        sets = {key: _with_ends(base, _grid(base, step)) for key, base in bases.items()}
        if _size(sets) <= MOST_COLUMNS:
            break
    return sets


def _common_grid(tasks: Sequence[Task], bases: StartSets, finest: int) -> StartSets | None:
    """Return the grid that holds every start of every block: a common divisor of all lengths, if it is not too fine."""
    starts = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *bases.values()]))
    lengths = [option.duration for task in tasks for option in task.options]
    step = gcd(*lengths, *np.diff(starts).tolist())
    if step < finest or not len(starts):
        return None
    return {
        key: np.arange(base[0], base[-1] + 1, step, dtype=np.int64) if len(base) else base
        for key, base in bases.items()
    }


def _grid(base: Ints, step: int) -> Ints:
    return np.arange(-(-base[0] // step) * step, base[-1] + 1, step, dtype=np.int64) if len(base) else base


def _chained(tasks: Sequence[Task], bases: StartSets, most: int) -> StartSets | None:
    """Return every start that a block of touching jobs allows; None where there are more than `most`."""
    longest = max((t.deadline for t in tasks), default=0) - min((t.lo for t in tasks), default=0)
    sums = _Sums(longest)
    sets: StartSets = {}
    for task in tasks:
        for key, option in keyed(task):
            starts = _reachable(task, option, tasks, bases, sums)
            if starts is None:
                return None
            sets[key] = np.union1d(starts, bases[key])
            if _size(sets) > most:
                return None
    return sets


def _reachable(task: Task, option: Option, tasks: Sequence[Task], bases: StartSets, sums: "_Sums") -> Ints | None:
    lo, hi = task.lo, task.deadline - option.duration
    found = [np.empty(0, dtype=np.int64)]
    for other in tasks:
        between = sums.of([t for t in tasks if len(tasks) > FEW or (t is not task and t is not other)])
        if between is None:
            return None
        for key, way in keyed(other) if other is not task else ():
            after = (bases[key][:, None] + way.duration + between).ravel()
            before = (bases[key][:, None] - option.duration - between).ravel()
            both = np.concatenate((after, before))
            found.append(np.unique(both[(both >= lo) & (both <= hi)]))
    return np.unique(np.concatenate(found))


class _Sums:
    """Every sum of durations of some of a set of tasks, up to `most`."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.known: dict[tuple[str, ...], Ints | None] = {}

    def of(self, tasks: Iterable[Task]) -> Ints | None:
        """Return the sums, 0 among them; None where they are too many."""
        among = tuple(tasks)
        name = tuple(task.id for task in among)
        if name not in self.known:
            self.known[name] = self._sums(among)
        return self.known[name]

    def _sums(self, tasks: Iterable[Task]) -> Ints | None:
        sums = np.zeros(1, dtype=np.int64)
        for task in tasks:
            longer = [sums + option.duration for option in task.options]
            sums = np.unique(np.concatenate((sums, *longer)))
            sums = sums[sums <= self.most]
            if len(sums) > MOST_SUMS:
                return None
        return sums
