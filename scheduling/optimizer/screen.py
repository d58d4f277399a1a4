"""Jobs that can't be placed, whatever the others do: why, and what would help."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Literal

from scheduling.optimizer.curve import HOUR, MINUTE, SECOND
from scheduling.optimizer.problem import Problem, Run, Task
from scheduling.optimizer.single import best_run, earliest_run
from scheduling.optimizer.types import Infeasible

Proof = Literal["window", "solver"]


def screened(problem: Problem) -> tuple[list[Task], list[Infeasible]]:
    """Return the tasks that fit by themselves beside the pinned runs, and the others with their reasons."""
    fits: list[Task] = []
    out: list[Infeasible] = []
    for task in problem.tasks:
        reason = _reason(problem, task)
        if reason is None:
            fits.append(task)
        else:
            out.append(_infeasible(problem, task, reason))
    return fits, out


def _reason(problem: Problem, task: Task) -> str | None:
    if task.due <= problem.curve.start or task.lo >= problem.curve.end:
        return "not_in_horizon"
    shortest = min(option.duration for option in task.options)
    if shortest > task.due - task.opens:
        return f"duration {in_words(shortest)} > window {in_words(max(task.due - task.opens, 0))}"
    if best_run(problem, task) is not None:
        return None
    return _what_is_short(problem, task)


def _what_is_short(problem: Problem, task: Task) -> str:
    """Lift one restriction after another until the task fits."""
    unlimited = replace(problem, limit_w=None)
    if best_run(replace(unlimited, pinned=(), capacity=dict.fromkeys(problem.capacity, 1)), task) is None:
        return "no_price"
    return "capacity" if best_run(unlimited, task) is None else "watt_limit"


def _infeasible(problem: Problem, task: Task, reason: str) -> Infeasible:
    if reason == "watt_limit" and (limit := lowest_limit(problem, task, ())) is not None:
        return needs_watts(problem, task, limit, "window")
    run = earliest_run(problem, extended(problem, task)) if reason != "watt_limit" else None
    return needs_time(task, run, reason, "window")


def extended(problem: Problem, task: Task) -> Task:
    """The task with all the time that has a price."""
    return replace(task, deadline=max(task.deadline, problem.curve.end), due=max(task.due, problem.curve.end))


def lowest_limit(problem: Problem, task: Task, runs: Sequence[Run]) -> float | None:
    """Return the lowest watt limit under which the task fits beside `runs`; None where no limit helps."""
    draws = [step for run in (*runs, *problem.pinned) for step in run.draws()]
    levels = {sum(w for a, b, w in draws if a <= at < b) for at in (problem.curve.start, *(a for a, _, _ in draws))}
    levels |= {sum(w for a, b, w in draws if a <= at < b) for _, at, _ in draws}
    needs = {level + w for level in levels for option in task.options for _, _, w in option.steps}
    higher = sorted(limit for limit in needs if limit > (problem.limit_w or 0.0))
    fits = [limit for limit in higher if best_run(replace(problem, limit_w=limit), task, runs) is not None]
    return min(fits, default=None)


def needs_watts(problem: Problem, task: Task, limit_w: float, proof: Proof) -> Infeasible:
    more = ceil((limit_w - (problem.limit_w or 0.0)) * 1000) / 1000
    return Infeasible(task.id, "watt_limit", f"watt limit {more:g} W higher", proof, more_watts=more)


def needs_time(task: Task, run: Run | None, reason: str, proof: Proof) -> Infeasible:
    """Say how much later the deadline must be for `run`; no change is known without it."""
    if run is None or run.end <= task.due:
        return Infeasible(task.id, reason, None, proof)
    minutes = ceil((run.end - task.due) / MINUTE)
    return Infeasible(task.id, reason, f"deadline {minutes} min later", proof, later_min=minutes)


def in_words(length: int) -> str:
    """5h, 3h30, 45min; with seconds where they are not whole minutes."""
    hours, rest = divmod(length, HOUR)
    minutes, rest = divmod(rest, MINUTE)
    seconds = f"{rest / SECOND:g}s" if rest else ""
    if not hours:
        return f"{minutes}min{seconds}" if minutes or not seconds else seconds
    return f"{hours}h{minutes:02d}{seconds and 'min' + seconds}" if minutes or rest else f"{hours}h"
