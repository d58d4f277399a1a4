"""Rows that keep what runs together within a limit, for starts at any instants."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from scheduling.optimizer.curve import Floats, Ints


@dataclass(frozen=True, eq=False)
class Usage:
    """Column `column[i]` uses `weight[i]` from `begin[i]` to `end[i]`."""

    begin: Ints
    end: Ints
    weight: Floats
    column: Ints

    @classmethod
    def joined(cls, parts: "Iterable[Usage]") -> "Usage":
        empty = np.empty(0, dtype=np.int64)
        all_parts = [cls(empty, empty, np.empty(0), empty), *parts]
        return cls(
            np.concatenate([p.begin for p in all_parts]),
            np.concatenate([p.end for p in all_parts]),
            np.concatenate([p.weight for p in all_parts]),
            np.concatenate([p.column for p in all_parts]),
        )

    @classmethod
    def fixed(cls, steps: Sequence[tuple[int, int, float]]) -> "Usage":
        """What is used in any case, by no column."""
        times = np.array([(a, b) for a, b, _ in steps], dtype=np.int64).reshape(-1, 2)
        return cls(times[:, 0], times[:, 1], np.array([w for _, _, w in steps]), np.zeros(len(steps), np.int64))

    def widened(self, grid: Ints) -> "Usage":
        """The same, from the last edge of the grid at or before each begin to the first at or after each end."""
        begin = grid[np.maximum(np.searchsorted(grid, self.begin, side="right") - 1, 0)]
        end = grid[np.minimum(np.searchsorted(grid, self.end, side="left"), len(grid) - 1)]
        return Usage(np.minimum(begin, self.begin), np.maximum(end, self.end), self.weight, self.column)


@dataclass(frozen=True, eq=False)
class Overlaps:
    """Sparse rows: in each, what runs at one instant. It stands for the time from `begins` to `ends`."""

    row: Ints
    column: Ints
    weight: Floats
    left: Floats
    begins: Ints
    ends: Ints


def overlap_rows(usage: Usage, fixed: Sequence[tuple[int, int, float]], limit: float) -> Overlaps:
    """Return a row for each instant that matters: the last beginning before something ends."""
    begins = np.unique(np.concatenate((usage.begin, np.array([a for a, _, _ in fixed], dtype=np.int64))))
    ends = np.unique(np.concatenate((usage.end, np.array([b for _, b, _ in fixed], dtype=np.int64))))
    next_end = ends[np.minimum(np.searchsorted(ends, begins, side="right"), len(ends) - 1)] if len(ends) else begins
    matters = next_end <= np.append(begins[1:], np.iinfo(np.int64).max)
    points, until = begins[matters], next_end[matters]
    left = np.full(len(points), limit)
    for begin, end, weight in fixed:
        left[(points >= begin) & (points < end)] -= weight
    first = np.searchsorted(points, usage.begin, side="left")
    many = np.searchsorted(points, usage.end, side="left") - first
    row = np.repeat(first - np.concatenate(([0], np.cumsum(many)[:-1])), many) + np.arange(many.sum())
    entry = np.repeat(np.arange(len(many)), many)
    return Overlaps(row, usage.column[entry], usage.weight[entry], np.maximum(left, 0.0), points, until)


def coverage(edges: Ints, usage: Usage) -> tuple[Ints, Ints, Floats]:
    """Return (segment, column, weight x share of the segment) for everything that overlaps a segment."""
    first = np.clip(np.searchsorted(edges, usage.begin, side="right") - 1, 0, None)
    last = np.clip(np.searchsorted(edges, usage.end, side="left"), None, len(edges) - 1)
    many = np.maximum(last - first, 0)
    entry = np.repeat(np.arange(len(many)), many)
    segment = np.repeat(first - np.concatenate(([0], np.cumsum(many)[:-1])), many) + np.arange(many.sum())
    shared = np.minimum(usage.end[entry], edges[segment + 1]) - np.maximum(usage.begin[entry], edges[segment])
    share = shared / (edges[segment + 1] - edges[segment])
    return segment, usage.column[entry], usage.weight[entry] * share
