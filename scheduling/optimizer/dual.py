"""The prices of machine time and of watts that make the certificate's bound as high as it gets."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from scheduling.optimizer.curve import HOUR, MINUTE, Bools, Ints
from scheduling.optimizer.highs import Budget, Builder, Programme, relax
from scheduling.optimizer.problem import Option, Problem, Run, Task
from scheduling.optimizer.proof import lower_bound, prices_from
from scheduling.optimizer.rows import Usage, coverage
from scheduling.optimizer.search import Outcome, TimePrice
from scheduling.optimizer.single import bends, start_costs

CLOSE = 1e-9
MOST_EDGES = 400


def best_time_prices(problem: Problem, outcome: Outcome, fixed: Sequence[Run], budget: Budget) -> list[TimePrice]:
    """Return the time prices with the highest bound: the search's, none, or those of all real starts."""
    tasks = [run.task for run in outcome.runs]
    bound = _bounds(problem, tasks, fixed)
    best = max((outcome.time_prices, []), key=bound)
    aim = sum(run.cost(problem.curve) for run in outcome.runs) + _constant(problem, fixed)
    exact = outcome.relaxed if not (outcome.left_out or fixed) else np.inf
    if not outcome.time_prices or bound(best) >= min(aim, exact) - CLOSE:
        return best
    fresh = _of_all_starts(problem.only(tasks), _edges(problem, tasks, outcome.time_prices), budget)
    return max((best, fresh), key=bound)


def _bounds(problem: Problem, tasks: Sequence[Task], fixed: Sequence[Run]) -> Callable[[Sequence[TimePrice]], float]:
    return lambda rows: lower_bound(problem, tasks, fixed, prices_from(problem, rows))


def _constant(problem: Problem, fixed: Iterable[Run]) -> float:
    return sum(run.cost(problem.curve) for run in fixed)


def _edges(problem: Problem, tasks: Sequence[Task], rows: Sequence[TimePrice]) -> Ints:
    """Where the prices of time may change: at price edges, at the search's rows, or at every quarter of an hour."""
    lo, hi = min(task.lo for task in tasks), max(task.deadline for task in tasks)
    known = np.union1d(problem.curve.edges, np.array([lo, hi], dtype=np.int64))
    fine = np.union1d(known, np.array([t for row in rows for t in (row.begin, row.end)], dtype=np.int64))
    if len(fine) > MOST_EDGES:
        fine = np.union1d(known, np.arange(-(-lo // (15 * MINUTE)) * 15 * MINUTE, hi, 15 * MINUTE, dtype=np.int64))
    return fine[(fine >= lo) & (fine <= hi)]


def _of_all_starts(problem: Problem, edges: Ints, budget: Budget) -> list[TimePrice]:
    """Solve the bound's own linear programme: with prices constant between `edges`, only these starts can matter."""
    build = Builder()
    machines: dict[str, list[Usage]] = {machine: [] for machine in problem.capacity}
    watts: list[Usage] = []
    for task in problem.tasks:
        chosen = []
        for option in task.fitting:
            for machine in task.machines:
                add = _add_seconds if task.interruptible else _add_starts
                columns, held, drawn = add(problem, task, option, edges, build)
                chosen.append(columns)
                machines[machine].append(held)
                watts.append(drawn)
        build.equal.add_one(np.concatenate(chosen), 1.0, 1.0)
    first = len(build.at_most.limit)
    for machine, parts in machines.items():
        kept = [(a, b, 1.0) for run in problem.pinned if run.machine == machine for a, b in run.pieces]
        _add_rows(build, edges, parts, kept, problem.capacity[machine])
    if problem.limit_w is not None:
        _add_rows(build, edges, watts, [step for run in problem.pinned for step in run.draws()], problem.limit_w)
    return _time_prices(problem, edges, build, first, budget)


def _add_starts(problem: Problem, task: Task, option: Option, edges: Ints, build: Builder) -> tuple[Ints, Usage, Usage]:
    starts = bends(edges, option, task.lo, task.deadline - option.duration)
    starts = starts[_is_priced(problem, starts, starts + option.duration)]
    columns = build.columns.add(start_costs(problem.curve, option, starts), integer=False)
    uses = [Usage(starts + a, starts + b, np.full(len(starts), w), columns) for a, b, w in option.steps]
    return columns, Usage(starts, starts + option.duration, np.ones(len(starts)), columns), Usage.joined(uses)


def _add_seconds(
    problem: Problem, task: Task, option: Option, edges: Ints, build: Builder
) -> tuple[Ints, Usage, Usage]:
    """A share of each stretch, and one column for "in this way" that fixes their sum and tops each of them."""
    begins, ends = np.maximum(edges[:-1], task.lo), np.minimum(edges[1:], task.deadline)
    usable = (begins < ends) & _is_priced(problem, begins, ends)
    begins, ends = begins[usable], ends[usable]
    money = (problem.curve.until(ends) - problem.curve.until(begins)) * (option.peak_w / 1000)
    shares = build.columns.add(money, integer=False)
    chosen = build.columns.add(np.zeros(1), integer=False)
    hours = np.append((ends - begins) / HOUR, -option.duration / HOUR)
    build.equal.add_one(np.append(shares, chosen), hours, 0.0)
    if len(task.machines) * len(task.fitting) > 1:
        each = np.arange(len(shares))
        top = np.concatenate((shares, np.repeat(chosen, len(shares))))
        signs = np.repeat([1.0, -1.0], len(shares))
        build.at_most.add(np.concatenate((each, each)), top, signs, np.zeros(len(shares)))
    held = Usage(begins, ends, np.ones(len(begins)), shares)
    return chosen, held, Usage(begins, ends, np.full(len(begins), option.peak_w), shares)


def _is_priced(problem: Problem, begins: Ints, ends: Ints) -> Bools:
    curve = problem.curve
    holes = np.concatenate(([0], np.cumsum(~curve.priced * np.diff(curve.edges))))
    before, after = np.interp(begins, curve.edges, holes), np.interp(ends, curve.edges, holes)
    return np.asarray(before == after, dtype=np.bool_)


def _add_rows(
    build: Builder, edges: Ints, parts: Sequence[Usage], fixed: Sequence[tuple[int, int, float]], limit: float
) -> None:
    """What is used on average between two edges stays within the limit."""
    row, column, weight = coverage(edges, Usage.joined(parts))
    left = np.full(len(edges) - 1, float(limit))
    segment, _, share = coverage(edges, Usage.fixed(fixed))
    np.subtract.at(left, segment, share)
    build.at_most.add(row, column, weight, np.maximum(left, 0.0))


def _time_prices(problem: Problem, edges: Ints, build: Builder, first: int, budget: Budget) -> list[TimePrice]:
    programme = Programme(
        build.at_most.matrix(build.columns.count),
        np.array(build.at_most.limit),
        build.equal.matrix(build.columns.count),
        np.array(build.equal.limit),
        np.concatenate(build.columns.upper),
        np.concatenate(build.columns.integer),
    )
    relaxed = relax(programme, np.concatenate(build.columns.cost), budget)
    if relaxed is None:
        return []
    names: list[tuple[str, ...]] = [(machine,) for machine in problem.capacity]
    names += [()] if problem.limit_w is not None else []
    levels = relaxed.row_prices[first:].reshape(len(names), len(edges) - 1)
    return [
        TimePrice(name, int(edges[i]), int(edges[i + 1]), float(level[i]))
        for name, level in zip(names, levels, strict=True)
        for i in np.flatnonzero(level)
    ]
