"""What the same jobs cost without a plan: begun at once, or at a random moment of their window."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from scheduling.optimizer.curve import curve_from, instant
from scheduling.optimizer.problem import Problem, Run, Task, task_of
from scheduling.optimizer.room import forbidden_starts, room_on
from scheduling.optimizer.single import allowed_starts, earliest_run, start_costs
from scheduling.optimizer.types import Job, PricePoint


def earliest_runs(problem: Problem, tasks: Sequence[Task]) -> list[Run]:
    """Begin each task, in its own way, as early as it can beside those before it: first come, first served.

    One that would then miss its deadline counts as begun at its own earliest start, as if it were alone.
    """
    runs: list[Run] = []
    for task in sorted(tasks, key=lambda task: (task.lo, -task.priority, task.id)):
        plain = replace(task, options=task.options[-1:])
        beside = earliest_run(problem, plain, runs) or earliest_run(problem, plain) or earliest_run(problem, task)
        if beside is not None:
            runs.append(beside)
    return runs


def random_start_mean(prices: Sequence[PricePoint], job: Job, *, now: datetime) -> float | None:
    """Return the mean cost of the job begun at a random moment of its window, in closed form; None if it can't run.

    The job runs in one piece, in its own way; only starts with a price for every second count.
    """
    at = instant(now, "now")
    curve = curve_from(prices, at)
    task = task_of(job, curve, at, ("",))
    option = task.options[-1]
    problem = Problem(curve, {"": 1}, None, (task,))
    room = room_on(problem, "", ())
    starts = allowed_starts(replace(task, machines=("",)), option, curve, room)
    if not len(starts):
        return None
    costs = start_costs(curve, option, starts)
    middles = (starts[:-1] + starts[1:]) // 2
    usable = forbidden_starts(room, option).allows(middles)
    lengths = np.diff(starts) * usable
    if not lengths.sum():
        return float(costs.mean())
    return float(((costs[:-1] + costs[1:]) / 2) @ lengths / lengths.sum())
