"""The certificate: a lower bound over all real starts that anybody can check without a solver.

For any prices of machine time and of watts that are not negative, what the jobs would pay at least, less what the
machines and the limit could take in, is no more than any plan costs. Rounding can make the bound weaker, never false.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np

from scheduling.optimizer.curve import HOUR, Curve, Floats, Ints
from scheduling.optimizer.problem import Option, Problem, Run, Task
from scheduling.optimizer.search import TimePrice
from scheduling.optimizer.single import bends, start_costs

UNPRICED = 1000.0  # a hole costs this many times the dearest price, so that the bound never gains by running in it


@dataclass(frozen=True, eq=False)
class Prices:
    """Between neighbouring `edges`: money per kWh (with the watt limit's share apart), and per machine-hour."""

    edges: Ints
    energy: Floats
    watt: Floats
    machines: dict[str, Floats]

    def hours(self) -> Floats:
        return np.diff(self.edges) / HOUR


def prices_from(problem: Problem, time_prices: Iterable[TimePrice]) -> Prices:
    """Spread each row's price evenly over the time it stands for."""
    rows = list(time_prices)
    curve = problem.curve
    edges = np.union1d(curve.edges, np.array([t for row in rows for t in (row.begin, row.end)], dtype=np.int64))
    edges = edges[(edges >= curve.start) & (edges <= curve.end)]
    at = np.searchsorted(curve.edges, edges[:-1], side="right") - 1
    hole = UNPRICED * (1 + np.abs(curve.price).max(initial=0.0))
    energy = np.where(curve.priced[at], curve.price[at], hole)
    levels = {name: np.zeros(len(edges) - 1) for name in (*problem.capacity, None)}
    for row in rows:
        first, last = np.searchsorted(edges, (row.begin, row.end))
        for name in row.machines or (None,):
            levels[name][first:last] += row.price * HOUR / (row.end - row.begin)
    return _without_overruns(problem, edges, energy, levels)


def _without_overruns(problem: Problem, edges: Ints, energy: Floats, levels: dict[str | None, Floats]) -> Prices:
    """Take the price off where pinned runs alone exceed what there is: it would be counted as if that could not be."""
    for machine, level in levels.items():
        runs = [run for run in problem.pinned if machine in (None, run.machine)]
        steps = [step for run in runs for step in run.draws()]
        limit = problem.limit_w if machine is None else problem.capacity[machine]
        used = np.zeros(len(edges) - 1)
        for begin, end, watts in steps:
            overlaps = (edges[:-1] < end) & (edges[1:] > begin)
            used[overlaps] += watts if machine is None else 1
        if limit is not None:
            level[used > limit] = 0.0
    watt = levels.pop(None)
    return Prices(edges, energy, watt * 1000, {name: level for name, level in levels.items() if name is not None})


def lower_bound(problem: Problem, tasks: Sequence[Task], pinned: Sequence[Run], prices: Prices) -> float:
    """Return the bound on the cost of `tasks` and of the fixed runs `pinned`."""
    least = [cheapest_option(prices, task)[0] for task in tasks]
    fixed = [_cost_at(prices, run) for run in pinned]
    taken = [float(prices.hours() @ level) * problem.capacity[m] for m, level in prices.machines.items()]
    limit = (problem.limit_w or 0.0) / 1000 * float(prices.hours() @ prices.watt)
    return fsum([*least, *fixed, *(-t for t in taken), -limit])


def cheapest_option(prices: Prices, task: Task) -> tuple[float, Option, str, int]:
    """Return the least that `task` pays under `prices`, and how: option, machine and (in one piece) start."""
    ways = [(option, machine) for option in task.fitting for machine in task.machines]
    found = [(*_least(prices, task, option, machine), option, machine) for option, machine in ways]
    cost, start, option, machine = min(found, key=lambda f: f[0])
    return cost, option, machine, start


def _least(prices: Prices, task: Task, option: Option, machine: str) -> tuple[float, int]:
    if task.interruptible:
        return _cheapest_seconds(prices, task, option, machine), task.lo
    starts = bends(prices.edges, option, task.lo, task.deadline - option.duration)
    costs = _start_costs(prices, option, machine, starts)
    best = int(np.argmin(costs))
    return float(costs[best]), int(starts[best])


def _start_costs(prices: Prices, option: Option, machine: str, starts: Ints) -> Floats:
    energy = _curve(prices, prices.energy + prices.watt)
    time = _curve(prices, prices.machines[machine])
    return start_costs(energy, option, starts) + time.until(starts + option.duration) - time.until(starts)


def _curve(prices: Prices, level: Floats) -> Curve:
    return Curve(prices.edges, level, np.ones(len(level), dtype=bool))


def _cheapest_seconds(prices: Prices, task: Task, option: Option, machine: str) -> float:
    """Restarts and the minimum run are left out: still a bound, for they only cost."""
    rates = option.peak_w / 1000 * (prices.energy + prices.watt) + prices.machines[machine]
    lengths = np.minimum(prices.edges[1:], task.deadline) - np.maximum(prices.edges[:-1], task.lo)
    inside = lengths > 0
    order = np.argsort(rates[inside], kind="stable")
    used = np.minimum(np.cumsum(lengths[inside][order]), option.duration)
    return float(np.diff(used, prepend=0) @ rates[inside][order]) / HOUR


def _cost_at(prices: Prices, run: Run) -> float:
    """What a run that stays pays under `prices`."""
    time = _curve(prices, prices.machines[run.machine])
    energy = _curve(prices, prices.energy + prices.watt)
    held = [time.until(np.array(piece)) for piece in run.pieces]
    return fsum([*(energy.money(*step) for step in run.draws()), *(float(b - a) for a, b in held)])
