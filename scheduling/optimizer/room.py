"""What other runs leave: the watts a machine may still draw at each instant, and the starts that this forbids."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from scheduling.optimizer.curve import Bools, Floats, Ints
from scheduling.optimizer.problem import Option, Problem, Run

CLOSED = -1.0
WATT_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Room:
    """Watts left between neighbouring `edges`; `CLOSED` where the machine is full or no price is known."""

    edges: Ints
    watts: Floats

    def open_to(self, watts: float) -> Bools:
        return self.watts >= watts - (WATT_TOLERANCE if watts > 0 else 0.0)


def room_on(problem: Problem, machine: str, runs: Iterable[Run]) -> Room:
    """Return what `runs` and the pinned ones leave on `machine`."""
    others = [*runs, *problem.pinned]
    held = [(a, b) for run in others if run.machine == machine for a, b in run.pieces]
    draws = [step for run in others for step in run.draws()] if problem.limit_w is not None else []
    edges = _edges(problem.curve.edges, [*held, *((a, b) for a, b, _ in draws)])
    left = np.full(len(edges) - 1, np.inf if problem.limit_w is None else float(problem.limit_w))
    left -= _level(edges, draws)
    full = _level(edges, [(a, b, 1.0) for a, b in held]) >= problem.capacity[machine]
    starts = np.searchsorted(problem.curve.edges, edges[:-1], side="right") - 1
    return Room(edges, np.where(full | ~problem.curve.priced[starts], CLOSED, np.maximum(left, 0.0)))


def _edges(curve_edges: Ints, spans: Iterable[tuple[int, int]]) -> Ints:
    inside = [t for pair in spans for t in pair if curve_edges[0] < t < curve_edges[-1]]
    return np.union1d(curve_edges, np.array(inside, dtype=np.int64))


def _level(edges: Ints, steps: Sequence[tuple[int, int, float]]) -> Floats:
    """Sum of the steps' heights in each segment; what lies outside the edges is left out."""
    level = np.zeros(len(edges))
    for begin, end, height in steps:
        first, last = np.searchsorted(edges, np.clip([begin, end], edges[0], edges[-1]))
        level[first:last] += height
    return level[:-1]


@dataclass(frozen=True, eq=False)
class Forbidden:
    """Open intervals of starts that can't be: sorted, with a running maximum of their ends."""

    begins: Ints
    ends: Ints

    def allows(self, starts: Ints) -> Bools:
        before = np.searchsorted(self.begins, starts, side="left") - 1
        return (
            (before < 0) | (self.ends[np.maximum(before, 0)] <= starts)
            if len(self.begins)
            else np.ones(len(starts), bool)
        )

    @property
    def edges(self) -> Ints:
        return np.union1d(self.begins, self.ends)


def forbidden_starts(room: Room, option: Option) -> Forbidden:
    """Return the starts at which some step of `option` would meet a segment without room for its watts."""
    begins: list[Ints] = []
    ends: list[Ints] = []
    for begin, end, watts in option.steps:
        shut = np.flatnonzero(~room.open_to(watts))
        begins.append(room.edges[shut] - end)
        ends.append(room.edges[shut + 1] - begin)
    order = np.argsort(np.concatenate(begins), kind="stable")
    sorted_begins = np.concatenate(begins)[order]
    return Forbidden(sorted_begins, np.maximum.accumulate(np.concatenate(ends)[order]) if len(order) else sorted_begins)
