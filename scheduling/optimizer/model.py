"""The time-indexed integer programme: which start for each job, which seconds for each interruptible one."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from scheduling.optimizer.curve import HOUR, Floats, Ints
from scheduling.optimizer.highs import Builder, Programme, Rows
from scheduling.optimizer.places import Place, dealt, places_of
from scheduling.optimizer.problem import Option, Problem, Run, Task
from scheduling.optimizer.room import forbidden_starts, room_on
from scheduling.optimizer.rows import Usage, coverage, overlap_rows
from scheduling.optimizer.single import start_costs
from scheduling.optimizer.spread import (
    Parts,
    fluid_parts,
    fluid_runs,
    is_fluid,
    segments_of,
    slot_parts,
    slot_run,
    slots_of,
)
from scheduling.optimizer.starts import keyed, start_sets

TWINS = 1e-12
MOSTLY = 0.51  # of several ways that a relaxation mixes, at most one is above this


@dataclass(frozen=True, eq=False)
class Block:
    """The columns of one task at one place in one way: a start each."""

    task: Task
    option: Option
    place: Place
    starts: Ints
    columns: Ints

    def usage(self, *, watts: bool) -> Usage:
        """When each column holds its machine, or how much it draws and when."""
        steps = self.option.steps if watts else ((0, self.option.duration, 1.0),)
        return Usage.joined(
            Usage(self.starts + begin, self.starts + end, np.full(len(self.starts), weight), self.columns)
            for begin, end, weight in steps
            if weight > 0
        )

    def run(self, column: int) -> Run:
        start = int(self.starts[column - self.columns[0]])
        return Run(self.task, self.place.machines[0], self.option, ((start, start + self.option.duration),))


@dataclass(frozen=True, eq=False)
class PricedRow:
    """A row of the programme as a stretch of time on some machines, or under the watt limit (no machine)."""

    machines: tuple[str, ...]
    begin: int
    end: int
    row: int


class Model:
    """Runs in one piece choose a start; an interruptible task takes parts of segments or whole slots.

    The first columns leave a task out, one each, in the order of `problem.tasks`.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.places = places_of(problem)
        self.build = Builder()
        self.priced_rows: list[PricedRow] = []
        self.build.columns.add(np.zeros(len(problem.tasks)))
        slotted = [t for t in problem.tasks if t.interruptible and not is_fluid(problem, t, self.places)]
        self.grid = slots_of(problem, slotted)
        self.blocks = self._blocks()
        self.parts = self._parts(slotted)
        self._choose_one()
        self._limit_machines()
        self._limit_watts()

    @cached_property
    def cost(self) -> Floats:
        return np.concatenate(self.build.columns.cost)

    @cached_property
    def priorities(self) -> tuple[int, ...]:
        return tuple(sorted({task.priority for task in self.problem.tasks}, reverse=True))

    def left_out(self, priority: int) -> Ints:
        """The columns that leave out the tasks of one priority."""
        return np.array([i for i, task in enumerate(self.problem.tasks) if task.priority == priority], dtype=np.int64)

    def programme(self, left_out: Sequence[int]) -> Programme:
        """Return the programme in which `left_out[i]` says how many tasks of the i-th priority stay out."""
        equal = Rows(
            list(self.build.equal.row),
            list(self.build.equal.column),
            list(self.build.equal.weight),
            list(self.build.equal.limit),
        )
        for priority, many in zip(self.priorities, left_out, strict=False):
            equal.add_one(self.left_out(priority), 1.0, float(many))
        return Programme(
            self.build.at_most.matrix(self.build.columns.count),
            np.array(self.build.at_most.limit),
            equal.matrix(self.build.columns.count),
            np.array(equal.limit),
            np.concatenate(self.build.columns.upper),
            np.concatenate(self.build.columns.integer),
        )

    def runs(self, x: Floats) -> list[Run] | None:
        """Return the runs that a solution stands for, on real machines; None where they can't be had."""
        chosen = [(block, int(column)) for block in self.blocks for column in block.columns[x[block.columns] > MOSTLY]]
        runs = dealt(self.problem, [(block.run(column), block.place.machines) for block, column in chosen])
        parts = [part for part in self.parts if x[part.chosen] > MOSTLY]
        for part in parts:
            if runs is not None and part.is_slots:
                run = slot_run(self.problem, part, x)
                runs = [*runs, run] if run else None
        for place in self.places:
            fluid = [part for part in parts if part.place is place and not part.is_slots]
            if runs is not None and fluid:
                poured = fluid_runs(self.problem, fluid, x, runs)
                runs = [*runs, *poured] if poured is not None else None
        return runs

    def ends(self) -> Floats:
        """Hours from the first price to the end of each column's run; only for models without interruptible tasks."""
        hours = np.zeros(self.build.columns.count)
        for block in self.blocks:
            hours[block.columns] = (block.starts + block.option.duration - self.problem.curve.start) / HOUR
        return hours

    def can_end_earlier(self, upper: Floats, sum_of_ends: int) -> bool:
        """Whether the columns with an upper bound above 0 leave room for an earlier sum of ends at the same cost.

        Only where some task has two such starts for the same money, as under a flat tariff.
        """
        if self.parts or not any(self._has_twins(block, upper) for block in self.blocks):
            return False
        if upper[: len(self.problem.tasks)].any():
            return True
        ends = np.where(upper > 0, self.ends(), np.inf)
        first = [
            min(ends[b.columns].min(initial=np.inf) for b in self.blocks if b.task is t) for t in self.problem.tasks
        ]
        now = sum_of_ends / HOUR - len(first) * self.problem.curve.start / HOUR
        return bool(sum(first) < now - 1e-6)

    def _has_twins(self, block: Block, upper: Floats) -> bool:
        costs = np.sort(self.cost[block.columns[upper[block.columns] > 0]])
        return bool((np.diff(costs) <= TWINS).any())

    def _blocks(self) -> list[Block]:
        blocks: list[Block] = []
        sets = start_sets(self.problem, self.grid)
        for task in self.problem.tasks:
            for key, option in keyed(task) if not task.interruptible else ():
                for place in self.places:
                    if place.takes(task):
                        room = room_on(self.problem, place.machines[0], ())
                        starts = sets[key][forbidden_starts(room, option).allows(sets[key])]
                        columns = self.build.columns.add(start_costs(self.problem.curve, option, starts))
                        blocks.append(Block(task, option, place, starts, columns))
        return blocks

    def _parts(self, slotted: Sequence[Task]) -> list[Parts]:
        parts: list[Parts] = []
        segments = segments_of(self.problem, slotted)
        for task in self.problem.tasks:
            for option in task.options if task.interruptible else ():
                for place in self.places:
                    if place.takes(task):
                        make, edges = (slot_parts, self.grid) if task in slotted else (fluid_parts, segments)
                        parts.append(make(self.problem, task, option, place, edges, self.build))
        return parts

    def _choose_one(self) -> None:
        for i, task in enumerate(self.problem.tasks):
            starts = [block.columns for block in self.blocks if block.task is task]
            chosen = [np.array([part.chosen]) for part in self.parts if part.task is task]
            self.build.equal.add_one(np.concatenate([np.array([i]), *starts, *chosen]), 1.0, 1.0)

    def _limit_machines(self) -> None:
        for place in self.places:
            parts = [part for part in self.parts if part.place is place]
            slots = [part.usage(1.0) for part in parts if part.is_slots]
            fluid = [part for part in parts if not part.is_slots]
            usage = Usage.joined(block.usage(watts=False) for block in self.blocks if block.place is place)
            fixed = [(a, b, 1.0) for run in self.problem.pinned if run.machine in place.machines for a, b in run.pieces]
            together = Usage.joined([usage.widened(self.grid), *slots]) if slots else usage
            self._add_overlaps(place.machines, together, fixed, float(place.capacity))
            if fluid:
                shared = Usage.joined([usage, *slots, *(part.usage(1.0) for part in fluid)])
                self._add_shares(place, shared, fixed, fluid[0].edges)

    def _limit_watts(self) -> None:
        if self.problem.limit_w is None:
            return
        usage = Usage.joined(block.usage(watts=True) for block in self.blocks)
        if self.parts:
            usage = Usage.joined([usage.widened(self.grid), *(part.usage(part.option.peak_w) for part in self.parts)])
        fixed = [step for run in self.problem.pinned for step in run.draws()]
        self._add_overlaps((), usage, fixed, self.problem.limit_w)

    def _add_overlaps(
        self, machines: tuple[str, ...], usage: Usage, fixed: Sequence[tuple[int, int, float]], limit: float
    ) -> None:
        """What runs together at one instant stays within `limit`."""
        rows = overlap_rows(usage, fixed, limit)
        first = self.build.at_most.add(rows.row, rows.column, rows.weight, rows.left)
        self._price_rows(machines, rows.begins, rows.ends, first)

    def _add_shares(self, place: Place, usage: Usage, fixed: Sequence[tuple[int, int, float]], edges: Ints) -> None:
        """What runs one after another within a segment fits into it."""
        row, column, weight = coverage(edges, usage)
        left = np.ones(len(edges) - 1)
        pinned = Usage.fixed(fixed)
        segment, _, share = coverage(edges, pinned)
        np.subtract.at(left, segment, share)
        first = self.build.at_most.add(row, column, weight, np.maximum(left, 0.0))
        self._price_rows(place.machines, edges[:-1], edges[1:], first)

    def _price_rows(self, machines: tuple[str, ...], begins: Ints, ends: Ints, first: int) -> None:
        for i, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
            self.priced_rows.append(PricedRow(machines, begin, end, first + i))
