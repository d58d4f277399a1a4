"""One interruptible job, exactly: the cheapest seconds, or dynamic programming where an interruption has a price."""

from collections.abc import Iterable
from math import ceil, gcd

import numpy as np

from scheduling.optimizer.curve import HOUR, MINUTE, Curve, Ints
from scheduling.optimizer.problem import Option, Run, Task
from scheduling.optimizer.room import Room, forbidden_starts
from scheduling.optimizer.runs import cheapest_runs

Pieces = tuple[tuple[int, int], ...]
CELLS = 3_000_000
UNITS = (MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR)


def cheapest_pieces(task: Task, option: Option, curve: Curve, room: Room) -> Pieces | None:
    """Return the cheapest pieces inside the window and the room; None where they don't fit."""
    if option.duration > task.deadline - task.lo:
        return None
    if task.min_run == 0 and task.restart_wh == 0:
        return _cheapest_seconds(_open_segments(task, option, room), option.duration, curve)
    candidates = [_one_piece(task, option, curve, room), _planned_pieces(task, option, curve, room)]
    found = [pieces for pieces in candidates if pieces]
    return min(found, key=lambda pieces: (_cost(task, option, curve, pieces), pieces[-1][1]), default=None)


def earliest_pieces(task: Task, option: Option, room: Room) -> Pieces | None:
    """Return the pieces that use every open moment from the start of the window on."""
    taken: list[tuple[int, int]] = []
    left = option.duration
    for begin, end in merged(_open_segments(task, option, room)):
        if left and end - begin >= min(task.min_run, left):
            taken.append((begin, min(end, begin + left)))
            left -= taken[-1][1] - begin
    return None if left else _with_minimum(taken, task.min_run)


def _with_minimum(pieces: list[tuple[int, int]], minimum: int) -> Pieces | None:
    """Lengthen a last piece that is too short at the cost of the one before; None where that one can't give."""
    short = minimum - (pieces[-1][1] - pieces[-1][0])
    if len(pieces) == 1 or short <= 0:
        return tuple(pieces)
    (begin, end), (last, until) = pieces[-2:]
    return (*pieces[:-2], (begin, end - short), (last, until + short)) if end - short - begin >= minimum else None


def _open_segments(task: Task, option: Option, room: Room) -> list[tuple[int, int]]:
    begins = np.maximum(room.edges[:-1], task.lo)
    ends = np.minimum(room.edges[1:], task.deadline)
    usable = room.open_to(option.peak_w) & (begins < ends)
    return [(int(a), int(b)) for a, b in zip(begins[usable], ends[usable], strict=True)]


def merged(pieces: Iterable[tuple[int, int]]) -> Pieces:
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(pieces):
        if merged and merged[-1][1] == begin:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((begin, end))
    return tuple(merged)


def _cheapest_seconds(segments: list[tuple[int, int]], duration: int, curve: Curve) -> Pieces | None:
    if sum(end - begin for begin, end in segments) < duration:
        return None
    chosen: list[tuple[int, int]] = []
    left = duration
    for begin, end in sorted(segments, key=lambda s: (curve.at(s[0]), s[0])):
        if end - begin >= left:
            return merged([*chosen, _part(begin, end, left, chosen)])
        chosen.append((begin, end))
        left -= end - begin
    return None


def _part(begin: int, end: int, length: int, chosen: list[tuple[int, int]]) -> tuple[int, int]:
    """The part of the last segment to take: its tail where that joins a chosen one, else its head."""
    joins_later = any(other == end for other, _ in chosen) and all(other != begin for _, other in chosen)
    return (end - length, end) if joins_later else (begin, begin + length)


def _cost(task: Task, option: Option, curve: Curve, pieces: Pieces) -> float:
    return Run(task, "", option, pieces).cost(curve)


def _one_piece(task: Task, option: Option, curve: Curve, room: Room) -> Pieces | None:
    lo, hi = task.lo, task.deadline - option.duration
    forbidden = forbidden_starts(room, option)
    edges = np.concatenate((curve.edges, curve.edges - option.duration, forbidden.edges))
    starts = np.unique(np.concatenate(([lo, hi], edges[(edges > lo) & (edges < hi)]))).astype(np.int64)
    starts = starts[forbidden.allows(starts)]
    if not len(starts):
        return None
    costs = curve.until(starts + option.duration) - curve.until(starts)
    best = int(starts[int(np.argmin(costs.round(15)))])
    return ((best, best + option.duration),)


def _planned_pieces(task: Task, option: Option, curve: Curve, room: Room) -> Pieces | None:
    segments = _open_segments(task, option, room)
    if not segments:
        return None
    unit, anchor = _unit(task, option, curve, segments)
    slots = _slots(segments, unit, anchor)
    need = ceil(option.duration / unit)
    excess = need * unit - option.duration
    least = min(need, max(1, ceil((task.min_run + excess) / unit)))
    kw = option.peak_w / 1000
    costs = np.where(slots < 0, np.inf, (curve.until(slots + unit) - curve.until(slots)) * kw)
    restarts = [max(curve.at(int(s)), 0.0) * task.restart_wh / 1000 if s >= 0 else 0.0 for s in slots]
    spans = cheapest_runs(costs, np.array(restarts), need, least)
    if spans is None:
        return None
    pieces = merged((int(slots[a]), int(slots[b - 1]) + unit) for a, b in spans)
    return _trimmed(task, option, curve, pieces, excess) if excess else pieces


def _unit(task: Task, option: Option, curve: Curve, segments: list[tuple[int, int]]) -> tuple[int, int]:
    """Return the slot length and a slot's start: the lengths' common divisor, or the finest unit that is quick."""
    window = segments[-1][1] - segments[0][0]
    anchor = segments[0][0]
    exact = gcd(option.duration, task.min_run, *(t - anchor for pair in segments for t in pair))
    if (window // exact) * (option.duration // exact) <= CELLS:
        return exact, anchor
    quick = [unit for unit in UNITS if (window // unit) * (option.duration // unit) <= CELLS]
    return (quick or UNITS[-1:])[0], curve.start


def _slots(segments: list[tuple[int, int]], unit: int, anchor: int) -> Ints:
    """Starts of the consecutive slots from the first to the last open one; -1 for one that is not wholly open."""
    first = (segments[0][0] - anchor) // unit * unit + anchor
    starts = np.arange(first, segments[-1][1], unit, dtype=np.int64)
    is_open = np.zeros(len(starts), dtype=bool)
    for begin, end in merged(segments):
        is_open |= (starts >= begin) & (starts + unit <= end)
    return np.where(is_open, starts, -1)


def _trimmed(task: Task, option: Option, curve: Curve, pieces: Pieces, excess: int) -> Pieces | None:
    """Take `excess` off one end of one piece: whichever leaves the cheapest plan."""
    ways: list[Pieces] = []
    for i, (begin, end) in enumerate(pieces):
        if end - begin - excess >= min(task.min_run, option.duration):
            ways.append((*pieces[:i], (begin + excess, end), *pieces[i + 1 :]))
            ways.append((*pieces[:i], (begin, end - excess), *pieces[i + 1 :]))
    return min(ways, key=lambda way: (_cost(task, option, curve, way), way[-1][1]), default=None)
