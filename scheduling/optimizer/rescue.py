"""Jobs that fit by themselves but not beside the others: what is short, and the smallest change that would help."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from scheduling.optimizer.curve import HOUR
from scheduling.optimizer.highs import Budget, Programme, solve
from scheduling.optimizer.model import Model
from scheduling.optimizer.places import holds
from scheduling.optimizer.problem import Problem, Run, Task
from scheduling.optimizer.screen import extended, lowest_limit, needs_time, needs_watts
from scheduling.optimizer.search import all_placed
from scheduling.optimizer.single import earliest_run
from scheduling.optimizer.types import Infeasible


def explained(problem: Problem, runs: Sequence[Run], task: Task, budget: Budget) -> Infeasible:
    """Say why `task` is left out and what would let it run beside the tasks of `runs`, wherever those then run."""
    together = problem.only(sorted([task, *(run.task for run in runs)], key=lambda t: t.id))
    if problem.limit_w is not None and all_placed(replace(together, limit_w=None), budget) is not None:
        limits = [lowest_limit(problem, task, runs), _limit_for_all(together, budget)]
        known = [limit for limit in limits if limit is not None]
        return (
            needs_watts(problem, task, min(known), "solver")
            if known
            else needs_time(task, None, "watt_limit", "solver")
        )
    late = extended(problem, task)
    ways = [earliest_run(problem, late, runs), _soonest(together, late, budget)]
    found = min((run for run in ways if run), key=lambda run: run.end, default=None)
    return needs_time(task, found, "capacity", "solver")


def _soonest(together: Problem, late: Task, budget: Budget) -> Run | None:
    """Return the run of `late` that ends first, with the others free to move in their windows."""
    if any(task.interruptible for task in together.tasks):
        return None
    problem = together.only(late if task.id == late.id else task for task in together.tasks)
    model = Model(problem)
    objective = np.zeros(model.build.columns.count)
    ends = model.ends()
    for block in model.blocks:
        if block.task is late:
            objective[block.columns] = ends[block.columns] - (late.opens - problem.curve.start) / HOUR
    solved = solve(model.programme([0] * len(model.priorities)), objective, budget)
    runs = model.runs(solved.x) if solved.x is not None else None
    if runs is None or not holds(problem, runs):
        return None
    return earliest_run(problem, late, [run for run in runs if run.task is not late])


def _limit_for_all(together: Problem, budget: Budget) -> float | None:
    """Return the lowest watt limit under which all tasks fit, on the solver's grid."""
    model = Model(together)
    programme = model.programme([0] * len(model.priorities))
    rows = np.array([row.row for row in model.priced_rows if not row.machines], dtype=np.int64)
    if not len(rows) or together.limit_w is None:
        return None
    raised = _with_raise(programme, rows)
    objective = np.append(np.zeros(model.build.columns.count), 1.0)
    solved = solve(raised, objective, budget)
    runs = model.runs(solved.x[:-1]) if solved.x is not None else None
    limit = together.limit_w + float(solved.x[-1]) if solved.x is not None else 0.0
    return limit if runs is not None and holds(replace(together, limit_w=limit), runs) else None


def _with_raise(programme: Programme, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Programme:
    """Add a column, in watts, that lifts the right-hand side of `rows`."""
    many = programme.at_most.shape[0]
    lift = sparse.csr_array((np.full(len(rows), -1.0), (rows, np.zeros(len(rows), np.int64))), shape=(many, 1))
    none = sparse.csr_array((programme.equal.shape[0], 1))
    return replace(
        programme,
        at_most=sparse.hstack((programme.at_most, lift), format="csr"),
        equal=sparse.hstack((programme.equal, none), format="csr"),
        upper=np.append(programme.upper, np.inf),
        integer=np.append(programme.integer, False),
    )
