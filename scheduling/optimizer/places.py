"""Machines that nobody names are one place with their capacities added: fewer twins for the solver to tell apart."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scheduling.optimizer.problem import Problem, Run, Task


@dataclass(frozen=True)
class Place:
    machines: tuple[str, ...]
    capacity: int

    def takes(self, task: Task) -> bool:
        return self.machines[0] in task.machines


def places_of(problem: Problem) -> tuple[Place, ...]:
    """Return the places of the machines that some task may use."""
    used = [m for m in problem.capacity if any(m in task.machines for task in problem.tasks)]
    alone = {m for m in used if not _may_pool(problem, m, len(used))}
    pool = tuple(m for m in used if m not in alone)
    pooled = [Place(pool, sum(problem.capacity[m] for m in pool))] if pool else []
    return (*(Place((m,), problem.capacity[m]) for m in used if m in alone), *pooled)


def _may_pool(problem: Problem, machine: str, machines: int) -> bool:
    """Runs in one piece can always be dealt out to equal machines; pieces, names and pinned runs stand in the way."""
    tasks = [task for task in problem.tasks if machine in task.machines]
    named = any(len(task.machines) < machines or task.interruptible for task in tasks)
    return not named and all(run.machine != machine for run in problem.pinned)


def dealt(problem: Problem, runs: Iterable[tuple[Run, tuple[str, ...]]]) -> list[Run] | None:
    """Give each run the first of its machines that is free, in order of starts. None where one finds none."""
    placed: list[Run] = []
    for run, machines in sorted(runs, key=lambda pair: (pair[0].start, pair[0].end, pair[0].task.id)):
        machine = next((m for m in machines if _is_free(problem, m, run, placed)), None)
        if machine is None:
            return None
        placed.append(Run(run.task, machine, run.option, run.pieces))
    return placed


def _is_free(problem: Problem, machine: str, run: Run, placed: Sequence[Run]) -> bool:
    busy = [piece for other in (*placed, *problem.pinned) if other.machine == machine for piece in other.pieces]
    return all(_most_at_once(busy, piece) < problem.capacity[machine] for piece in run.pieces)


def _most_at_once(busy: Sequence[tuple[int, int]], piece: tuple[int, int]) -> int:
    """The most of `busy` that run together at some instant of `piece`."""
    begin, end = piece
    within = [(a, b) for a, b in busy if a < end and b > begin]
    return max((sum(a <= at < b for a, b in within) for at in (begin, *(a for a, _ in within if a > begin))), default=0)


def holds(problem: Problem, runs: Sequence[Run]) -> bool:
    """Whether each task runs once, and the machines and the watt limit bear it: no solver is taken at its word."""
    once = len({run.task.id for run in runs}) == len(runs)
    alone = (_is_free(problem, run.machine, run, [o for o in runs if o is not run]) for run in runs)
    return once and all(alone) and watts_fit(problem, runs)


def watts_fit(problem: Problem, runs: Sequence[Run]) -> bool:
    """Whether the account's limit holds wherever one of `runs` draws power."""
    if problem.limit_w is None:
        return True
    ours = [step for run in runs for step in run.draws() if step[2] > 0]
    steps = [*ours, *(step for run in problem.pinned for step in run.draws())]
    tops = {begin for begin, _, _ in steps}
    limit = problem.limit_w + 1e-6
    return all(
        sum(w for a, b, w in steps if a <= at < b) <= limit for at in tops if any(a <= at < b for a, b, _ in ours)
    )
