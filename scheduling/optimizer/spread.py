"""Interruptible tasks in the integer programme.

Where nothing but one machine's time limits it, a task takes a share of each price segment, and shares are dealt out to
instants afterwards. Where restarts, a minimum run, a watt limit or several runs at once matter, it takes whole slots.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd

import numpy as np

from scheduling.optimizer.curve import HOUR, MINUTE, Floats, Ints
from scheduling.optimizer.highs import Builder
from scheduling.optimizer.pieces import cheapest_pieces, merged
from scheduling.optimizer.places import Place
from scheduling.optimizer.problem import Option, Problem, Run, Task
from scheduling.optimizer.room import CLOSED, Room, room_on
from scheduling.optimizer.rows import Usage

STEPS = (5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR)
MOST_SLOTS = 20_000


@dataclass(frozen=True, eq=False)
class Parts:
    """The columns of one interruptible task at one place in one way: a segment or slot each, and one for "chosen"."""

    task: Task
    option: Option
    place: Place
    edges: Ints
    begins: Ints
    ends: Ints
    columns: Ints
    chosen: int
    is_slots: bool

    def usage(self, weight: float) -> Usage:
        return Usage(self.begins, self.ends, np.full(len(self.begins), weight), self.columns)

    @property
    def hours(self) -> Floats:
        return (self.ends - self.begins) / HOUR


def is_fluid(problem: Problem, task: Task, places: Sequence[Place]) -> bool:
    alone = all(place.capacity == 1 for place in places if place.takes(task))
    return alone and problem.limit_w is None and task.min_run == 0 and task.restart_wh == 0


def segments_of(problem: Problem, slotted: Sequence[Task]) -> Ints:
    """Edges between which the price and the set of open windows of the fluid tasks don't change."""
    windows = [
        t for task in problem.tasks if task.interruptible and task not in slotted for t in (task.lo, task.deadline)
    ]
    pinned = [t for run in problem.pinned for piece in run.pieces for t in piece]
    edges = np.union1d(problem.curve.edges, np.array([*windows, *pinned], dtype=np.int64))
    return edges[(edges >= min(windows)) & (edges <= max(windows))] if windows else edges[:0]


def slots_of(problem: Problem, slotted: Sequence[Task]) -> Ints:
    """Edges of the slots over all windows, as the runs in one piece start at them, too.

    They lie a common divisor of all lengths apart where that is coarse enough, else as close as is quick.
    """
    if not slotted:
        return np.empty(0, dtype=np.int64)
    lo, hi = min(task.lo for task in problem.tasks), max(task.deadline for task in problem.tasks)
    inside = problem.curve.edges[(problem.curve.edges > lo) & (problem.curve.edges < hi)]
    lengths = [option.duration for task in problem.tasks for option in task.options]
    common = gcd(HOUR, *lengths, *(task.min_run for task in slotted), *inside.tolist())
    quick = [s for s in STEPS if (hi - lo) // s * len(slotted) <= MOST_SLOTS]
    finest = STEPS[0] if gcd(STEPS[2], *inside.tolist()) < STEPS[2] else STEPS[2]
    step = common if common >= STEPS[0] else max(finest, (quick or STEPS[-1:])[0])
    return np.union1d(np.arange(-(-lo // step) * step, hi + 1, step, dtype=np.int64), inside)


def _open(problem: Problem, task: Task, option: Option, place: Place, edges: Ints) -> tuple[Ints, Ints]:
    """The segments between `edges` that lie in the task's window and are wholly open to it."""
    room = room_on(problem, place.machines[0], ())
    shut = np.concatenate(([0], np.cumsum(~room.open_to(option.peak_w))))
    begins, ends = edges[:-1], edges[1:]
    first = np.searchsorted(room.edges, begins, side="right") - 1
    last = np.searchsorted(room.edges, ends, side="left")
    inside = (begins >= max(task.lo, room.edges[0])) & (ends <= min(task.deadline, room.edges[-1]))
    usable = inside & (shut[np.minimum(last, len(shut) - 1)] == shut[np.clip(first, 0, len(shut) - 1)])
    return begins[usable], ends[usable]


def fluid_parts(problem: Problem, task: Task, option: Option, place: Place, edges: Ints, build: Builder) -> Parts:
    """Add a share of each segment, from 0 to 1; the shares make up the duration."""
    begins, ends = _open(problem, task, option, place, edges)
    columns = build.columns.add(_money(problem, option, begins, ends), integer=False)
    chosen = int(build.columns.add(np.zeros(1))[0])
    parts = Parts(task, option, place, edges, begins, ends, columns, chosen, is_slots=False)
    build.equal.add_one(np.append(columns, chosen), np.append(parts.hours, -option.duration / HOUR), 0.0)
    _only_if_chosen(parts, build)
    return parts


def slot_parts(problem: Problem, task: Task, option: Option, place: Place, edges: Ints, build: Builder) -> Parts:
    """Add a yes or no for each slot; what the slots hold beyond the duration is trimmed off one or more of them."""
    begins, ends = _open(problem, task, option, place, edges)
    money = _money(problem, option, begins, ends)
    columns = build.columns.add(money)
    chosen = int(build.columns.add(np.zeros(1))[0])
    parts = Parts(task, option, place, edges, begins, ends, columns, chosen, is_slots=True)
    duration = option.duration / HOUR
    if option.duration % gcd(*(ends - begins).tolist()):
        trims = build.columns.add(-money, integer=False)
        each = np.arange(len(columns))
        build.at_most.add(
            np.concatenate((each, each)),
            np.concatenate((trims, columns)),
            np.concatenate((np.ones(len(each)), -np.ones(len(each)))),
            np.zeros(len(each)),
        )
        build.at_most.add_one(trims, parts.hours, float(parts.hours.max(initial=0.0)))
        taken = np.concatenate((columns, trims, [chosen]))
        build.equal.add_one(taken, np.concatenate((parts.hours, -parts.hours, [-duration])), 0.0)
    else:
        build.equal.add_one(np.append(columns, chosen), np.append(parts.hours, -duration), 0.0)
    _only_if_chosen(parts, build)
    if task.min_run or task.restart_wh:
        _add_begins(problem, parts, build)
    return parts


def _only_if_chosen(parts: Parts, build: Builder) -> None:
    """Nothing of a way that is not chosen, where there are several: a tighter relaxation."""
    if len(parts.task.machines) * len(parts.task.options) > 1:
        for column in parts.columns:
            build.at_most.add_one(np.array([column, parts.chosen]), np.array([1.0, -1.0]), 0.0)


def _money(problem: Problem, option: Option, begins: Ints, ends: Ints) -> Floats:
    return (problem.curve.until(ends) - problem.curve.until(begins)) * (option.peak_w / 1000)


def _add_begins(problem: Problem, parts: Parts, build: Builder) -> None:
    """Add a yes or no for "a run begins here", what a restart costs, and how long a run lasts at least."""
    task, many = parts.task, len(parts.columns)
    if not many:
        return
    prices = np.array([max(problem.curve.at(int(begin)), 0.0) for begin in parts.begins]) * task.restart_wh / 1000
    follows = np.concatenate(([False], parts.begins[1:] == parts.ends[:-1]))
    fits = _slots_needed(parts) > 0
    begin = build.columns.add(prices, np.where(fits, 1.0, 0.0), integer=False)
    for i in range(many):
        before = [parts.columns[i - 1]] if follows[i] else []
        build.at_most.add_one(
            np.array([parts.columns[i], *before, begin[i]]), np.array([1.0, *[-1.0] * len(before), -1.0]), 0.0
        )
    _add_minimum(parts, begin, build)
    if task.restart_wh:
        _add_first(parts, begin, prices, build)


def _slots_needed(parts: Parts) -> Ints:
    """How many slots from each on make a minimum run, one more where trimming may shorten it; 0 where they lack."""
    at_least = min(parts.task.min_run, parts.option.duration)
    spare = (
        int((parts.ends - parts.begins).max())
        if parts.option.duration % gcd(*(parts.ends - parts.begins).tolist())
        else 0
    )
    needed = np.zeros(len(parts.begins), dtype=np.int64)
    for i, begin in enumerate(parts.begins.tolist()):
        end = int(np.searchsorted(parts.ends, begin + at_least + (spare if at_least < parts.option.duration else 0)))
        whole = (
            end < len(parts.ends)
            and parts.ends[end] - begin == (parts.ends[i : end + 1] - parts.begins[i : end + 1]).sum()
        )
        needed[i] = end + 1 - i if whole else 0
    return needed


def _add_minimum(parts: Parts, begin: Ints, build: Builder) -> None:
    """A slot is taken if a run began in it or so shortly before that it must still last."""
    needed = _slots_needed(parts)
    for i, column in enumerate(parts.columns):
        recent = [k for k in range(max(0, i - int(needed.max(initial=0)) + 1), i + 1) if k + needed[k] > i]
        build.at_most.add_one(np.array([*begin[recent], column]), np.array([*[1.0] * len(recent), -1.0]), 0.0)


def _add_first(parts: Parts, begin: Ints, prices: Floats, build: Builder) -> None:
    """The first run's begin is free: `risen` steps from 0 to 1 there, and no run begins before it."""
    pays_from = np.append(prices[1:], 0.0) - prices
    risen = build.columns.add(pays_from, integer=False)
    for i in range(len(begin)):
        build.at_most.add_one(np.array([begin[i], risen[i]]), np.array([1.0, -1.0]), 0.0)
        before = [risen[i - 1]] if i else []
        build.at_most.add_one(
            np.array([risen[i], *before, begin[i]]), np.array([1.0, *[-1.0] * len(before), -1.0]), 0.0
        )
        if i:
            build.at_most.add_one(np.array([risen[i - 1], risen[i]]), np.array([1.0, -1.0]), 0.0)
    build.at_most.add_one(np.array([risen[-1], parts.chosen]), np.array([1.0, -1.0]), 0.0)


def slot_run(problem: Problem, part: Parts, x: Floats) -> Run | None:
    """Return the cheapest run inside the chosen slots."""
    taken = x[part.columns] > 0.5
    edges = np.unique(np.concatenate((problem.curve.edges, part.begins[taken], part.ends[taken])))
    is_open = np.zeros(len(edges) - 1, dtype=bool)
    for begin, end in zip(part.begins[taken], part.ends[taken], strict=True):
        is_open |= (edges[:-1] >= begin) & (edges[1:] <= end)
    room = Room(edges, np.where(is_open, np.inf, CLOSED))
    pieces = cheapest_pieces(part.task, part.option, problem.curve, room)
    return Run(part.task, part.place.machines[0], part.option, pieces) if pieces else None


def fluid_runs(problem: Problem, parts: Sequence[Parts], x: Floats, runs: Sequence[Run]) -> list[Run] | None:
    """Deal the shares of each segment out to its free instants; None where rounding leaves no room."""
    edges, machine = parts[0].edges, parts[0].place.machines[0]
    room = room_on(problem, machine, runs)
    free = [_free_within(room, a, b) for a, b in pairwise(edges.tolist())]
    amounts = _whole_amounts(problem, parts, x, [sum(b - a for a, b in spans) for spans in free])
    if amounts is None:
        return None
    pieces: list[list[tuple[int, int]]] = [[] for _ in parts]
    last = -1
    for segment, spans in enumerate(free):
        order = sorted(np.flatnonzero(amounts[:, segment]).tolist(), key=lambda k: (k != last, parts[k].task.id))
        for k in order:
            spans = _pour(int(amounts[k, segment]), spans, pieces[k])
            last = k
    return [Run(part.task, machine, part.option, merged(mine)) for part, mine in zip(parts, pieces, strict=True)]


def _free_within(room: Room, begin: int, end: int) -> list[tuple[int, int]]:
    begins, ends = np.maximum(room.edges[:-1], begin), np.minimum(room.edges[1:], end)
    usable = room.open_to(0.0) & (begins < ends)
    return list(merged(zip(begins[usable].tolist(), ends[usable].tolist(), strict=True)))


def _pour(amount: int, spans: list[tuple[int, int]], pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Move `amount` from the front of `spans` to `pieces`; return what is left of the spans."""
    while amount:
        (begin, end), *rest = spans
        used = min(amount, end - begin)
        pieces.append((begin, begin + used))
        spans = [(begin + used, end), *rest] if used < end - begin else rest
        amount -= used
    return spans


def _whole_amounts(problem: Problem, parts: Sequence[Parts], x: Floats, free: Sequence[int]) -> Ints | None:
    """Return whole microseconds of each part in each segment that fit the free time and sum to the durations."""
    edges = parts[0].edges
    amounts = np.zeros((len(parts), len(free)), dtype=np.int64)
    usable = np.zeros((len(parts), len(free)), dtype=bool)
    for k, part in enumerate(parts):
        at = np.searchsorted(edges, part.begins)
        amounts[k, at] = np.rint(np.clip(x[part.columns], 0, 1) * (part.ends - part.begins))
        usable[k, at] = True
    for segment, room in enumerate(free):
        while (over := int(amounts[:, segment].sum()) - room) > 0:
            amounts[int(amounts[:, segment].argmax()), segment] -= min(over, int(amounts[:, segment].max()))
    prices = np.array([problem.curve.at(int(edge)) for edge in edges[:-1]])
    dearest_first = np.argsort(-prices, kind="stable").tolist()
    missing = [part.option.duration - int(amounts[k].sum()) for k, part in enumerate(parts)]
    for k in sorted(range(len(parts)), key=lambda k: missing[k]):
        for segment in dearest_first if missing[k] < 0 else dearest_first[::-1]:
            slack = free[segment] - int(amounts[:, segment].sum()) if usable[k, segment] else 0
            change = min(slack, missing[k]) if missing[k] > 0 else -min(int(amounts[k, segment]), -missing[k])
            amounts[k, segment] += change
            missing[k] -= change
    return None if any(missing) else amounts
