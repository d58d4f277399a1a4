"""From prices and jobs to a plan: screen, split into independent groups, search each, prove, check."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from math import fsum
from time import monotonic
from typing import Any

from scheduling.optimizer.baseline import earliest_runs
from scheduling.optimizer.certificate import certificate
from scheduling.optimizer.curve import moment
from scheduling.optimizer.dual import best_time_prices
from scheduling.optimizer.highs import Budget
from scheduling.optimizer.problem import Option, Problem, Run, Task, problem_from
from scheduling.optimizer.proof import lower_bound, prices_from
from scheduling.optimizer.rescue import explained
from scheduling.optimizer.screen import screened
from scheduling.optimizer.search import Outcome, search
from scheduling.optimizer.types import Infeasible, Job, Piece, Placement, Plan, PricePoint
from scheduling.optimizer.verify import verify

NODE_LIMIT = 2_000
ROUNDING = 1e-9


class UnsoundPlanError(RuntimeError):
    """A plan that the independent check refuses; it is never returned."""


def plan(
    prices: Sequence[PricePoint],
    jobs: Sequence[Job],
    *,
    now: datetime,
    capacity: int | Mapping[str, int] = 1,
    watt_limit: float | None = None,
    pinned: Sequence[Placement] = (),
    time_limit_s: float = 10.0,
    node_limit: int | None = None,
) -> Plan:
    """Return the cheapest placement of `jobs`: as many as can be by priority, then least money, then earliest ends.

    `capacity`: runs at once, of every machine or by machine (1 where none is given). `watt_limit`: over all machines.
    `pinned`: what has started or must stay; it is kept as it is, whether its job is in `jobs` or not.
    ValueError for a time without zone, overlapping prices, or a job that makes no sense; never for one that can't be
    placed: that is in `infeasible`.
    """
    problem = problem_from(prices, jobs, now=now, capacity=capacity, watt_limit=watt_limit, pinned=pinned)
    budget = Budget(NODE_LIMIT if node_limit is None else node_limit, monotonic() + time_limit_s)
    fits, infeasible = screened(problem)
    groups = [problem.only(group) for group in _independent(problem, fits)]
    outcomes = [search(group, budget) for group in groups]
    for group, outcome in zip(groups, outcomes, strict=True):
        infeasible += [explained(group, outcome.runs, task, budget) for task in outcome.left_out]
    made = _assembled(problem, outcomes, infeasible, pinned, budget)
    problems = verify(made, prices, jobs, now=now, capacity=capacity, watt_limit=watt_limit)
    if problems:
        raise UnsoundPlanError("; ".join(problems))
    return made


def _independent(problem: Problem, tasks: Sequence[Task]) -> list[list[Task]]:
    """Split tasks into groups that can't meet: other machines (without a watt limit), or windows apart in time."""
    groups: list[list[Task]] = []
    for task in tasks:
        near = [group for group in groups if any(_may_meet(problem, task, other) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([task, *(other for group in near for other in group)])
    return [sorted(group, key=lambda task: task.id) for group in groups]


def _may_meet(problem: Problem, one: Task, other: Task) -> bool:
    share = problem.limit_w is not None or not set(one.machines).isdisjoint(other.machines)
    return share and one.lo < other.deadline and other.lo < one.deadline


def _assembled(
    problem: Problem,
    outcomes: Sequence[Outcome],
    infeasible: Sequence[Infeasible],
    pinned: Sequence[Placement],
    budget: Budget,
) -> Plan:
    runs = sorted((run for outcome in outcomes for run in outcome.runs), key=lambda run: run.task.id)
    kept = [_kept(problem, run, placement) for run, placement in zip(problem.pinned, pinned, strict=True)]
    placements = sorted([*(_placement(problem, run) for run in runs), *kept], key=lambda p: p.id)
    cost, carried = fsum(placement.cost for placement in placements), _carried(problem, kept)
    proof = _proof(problem, outcomes, runs, cost - carried, budget)
    baseline = {run.task.id: run.cost(problem.curve) for run in earliest_runs(problem, [run.task for run in runs])}
    return Plan(
        placements=tuple(placements),
        infeasible=sorted(infeasible, key=lambda i: i.id),
        cost=cost,
        lower_bound=proof["lower_bound"] + carried,
        solver_bound=fsum([*(outcome.bound for outcome in outcomes), *(p.cost for p in kept)]),
        baseline_costs=baseline | {placement.id: placement.cost for placement in kept},
        certificate=proof | {"carried_cost": carried},
        proved=all(outcome.proved for outcome in outcomes),
        time_limited=budget.time_limited,
        pinned=tuple(placement.id for placement in kept),
    )


def _proof(
    problem: Problem, outcomes: Sequence[Outcome], runs: Sequence[Run], cost: float, budget: Budget
) -> dict[str, Any]:
    """Return the certificate with the best bound known."""
    fixed = [part for run in problem.pinned for part in _priced_parts(problem, run)]
    groups = [problem.only(run.task for run in outcome.runs) for outcome in outcomes]
    pairs = zip(groups, outcomes, strict=True)
    rows = [row for group, outcome in pairs for row in best_time_prices(group, outcome, fixed, budget)]
    prices = prices_from(problem, rows)
    bound = lower_bound(problem, [run.task for run in runs], fixed, prices)
    if cost < bound < cost + ROUNDING:
        bound = cost
    return certificate(problem, runs, fixed, prices, cost=cost, bound=bound)


def _carried(problem: Problem, kept: Sequence[Placement]) -> float:
    """What pinned runs cost in hours whose prices are not known any more: their cost as it was, less the known part."""
    gone = [(p, run) for p, run in zip(kept, problem.pinned, strict=True) if not _is_priced(problem, run)]
    known = [part.cost(problem.curve) for _, run in gone for part in _priced_parts(problem, run)]
    return fsum([*(placement.cost for placement, _ in gone), *(-money for money in known)])


def _placement(problem: Problem, run: Run) -> Placement:
    pieces = tuple(Piece(moment(begin), moment(end)) for begin, end in run.pieces)
    return Placement(run.task.id, run.machine, run.option.mode, pieces, run.energy_wh(), run.cost(problem.curve))


def _is_priced(problem: Problem, run: Run) -> bool:
    return all(problem.curve.is_priced(begin, end) for begin, end in run.pieces)


def _kept(problem: Problem, run: Run, placement: Placement) -> Placement:
    """The pinned placement, its money recounted where every second of it still has a price."""
    return replace(placement, cost=run.cost(problem.curve)) if _is_priced(problem, run) else placement


def _priced_parts(problem: Problem, run: Run) -> list[Run]:
    """The parts of a pinned run that lie in known prices, each as a run of its own."""
    curve = problem.curve
    if _is_priced(problem, run) and not run.task.interruptible:
        return [run]
    spans = [
        (max(begin, int(a)), min(end, int(b)), watts)
        for begin, end, watts in run.draws()
        for a, b, priced in zip(curve.edges[:-1], curve.edges[1:], curve.priced, strict=True)
        if priced and max(begin, a) < min(end, b)
    ]
    return [_part(run, begin, end, watts) for begin, end, watts in spans]


def _part(run: Run, begin: int, end: int, watts: float) -> Run:
    option = Option(run.option.mode, end - begin, ((0, end - begin, watts),))
    task = replace(run.task, lo=begin, deadline=end, options=(option,), interruptible=False, restart_wh=0.0)
    return Run(task, run.machine, option, ((begin, end),))
