"""The cheapest plan for jobs that stand in each other's way: feasible first, then cheap, then early."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import fsum

import numpy as np
from scipy import sparse

from scheduling.optimizer.curve import Floats
from scheduling.optimizer.highs import Budget, Programme, Relaxed, Solved, relax, solve, with_row
from scheduling.optimizer.model import Model
from scheduling.optimizer.places import dealt, holds, watts_fit
from scheduling.optimizer.polish import in_order_of_ids, is_better, polished, sum_of_ends, total_cost
from scheduling.optimizer.problem import Problem, Run, Task
from scheduling.optimizer.sequence import cheapest_sequence, finer_starts, is_sequence
from scheduling.optimizer.single import best_run, earliest_run

SAME_MONEY = 1e-10
CORE = 20
FEW_TIES = 300
TRIES = 10

Place = Callable[[Problem, Task, Sequence[Run]], Run | None]


@dataclass(frozen=True, eq=False)
class TimePrice:
    """Money for holding one of `machines` (or, with none, for one watt) from `begin` to `end`."""

    machines: tuple[str, ...]
    begin: int
    end: int
    price: float


@dataclass(frozen=True, eq=False)
class Outcome:
    """`relaxed` and `bound` are the solver's, on its grid, without and with integrality.

    `proved`: nothing on that grid is cheaper, and no more jobs fit.
    """

    runs: list[Run]
    left_out: list[Task]
    relaxed: float
    bound: float
    proved: bool
    time_prices: list[TimePrice]


def search(problem: Problem, budget: Budget) -> Outcome:
    """Return the best plan found for tasks each of which fits by itself."""
    free = _each_at_its_best(problem)
    if free is not None:
        cost = total_cost(problem, free)
        return Outcome(free, [], cost, cost, True, [])
    return _Search(problem, budget).outcome()


def all_placed(problem: Problem, budget: Budget) -> list[Run] | None:
    """Return some plan with every task in it; None where none is found."""
    quick = _greedy(problem)
    if quick is not None:
        return quick
    model = Model(problem)
    solved = solve(model.programme([0] * len(model.priorities)), np.zeros(model.build.columns.count), budget)
    runs = model.runs(solved.x) if solved.x is not None else None
    return runs if runs is not None and holds(problem, runs) else None


def _greedy(problem: Problem) -> list[Run] | None:
    """Place one task after another at its best, else as early as it can, which packs better; None if some never fit."""
    return _insistent(problem, _cheapest_run) or _insistent(problem, earliest_run)


def _insistent(problem: Problem, place: Place) -> list[Run] | None:
    """Tightest first; tasks that find no room go first in the next try."""
    order = sorted(problem.tasks, key=lambda t: (t.deadline - t.lo - t.options[-1].duration, t.id))
    for _ in range(TRIES):
        plan = _in_turn(problem, order, place=place)
        missing = _missing(problem, plan)
        if not missing:
            return plan
        order = [*missing, *(task for task in order if task not in missing)]
    return None


def _cheapest_run(problem: Problem, task: Task, runs: Sequence[Run]) -> Run | None:
    found = best_run(problem, task, runs)
    return found.run if found else None


def _in_turn(
    problem: Problem, tasks: Sequence[Task], runs: Sequence[Run] = (), *, place: Place = _cheapest_run
) -> list[Run]:
    placed = list(runs)
    for task in tasks:
        if run := place(problem, task, placed):
            placed.append(run)
    return placed


def _each_at_its_best(problem: Problem) -> list[Run] | None:
    """Return every task's own best run, if these don't get in each other's way: nothing can be cheaper."""
    found = [best_run(problem, task) for task in problem.tasks]
    runs = dealt(problem, [(f.run, f.run.task.machines) for f in found if f])
    return runs if runs is not None and watts_fit(problem, runs) else None


class _Search:
    def __init__(self, problem: Problem, budget: Budget) -> None:
        self.problem = problem
        self.budget = budget
        self.model = Model(problem)

    def outcome(self) -> Outcome:
        none_out = [0] * len(self.model.priorities)
        best = _greedy(self.problem)
        programme = self.model.programme(none_out)
        relaxed = relax(programme, self.model.cost, self.budget)
        if relaxed is not None and best is None:
            best = self._rounded(relaxed)
        proved_out = True
        if best is None or _missing(self.problem, best):
            best = self._feasible(programme) if relaxed is not None else None
        if best is None:
            best, left_out, proved_out = self._fewest_left_out()
            programme = self.model.programme(left_out)
            relaxed = relax(programme, self.model.cost, self.budget)
        if relaxed is None:
            return self._outcome(best, self._each_alone(best), False, None)
        best = self._better(polished(self.problem, best), self._rounded(relaxed))
        sequence = self._sequence(relaxed, best)
        if sequence is not None:
            return self._outcome(sequence, total_cost(self.problem, sequence), True, relaxed)
        best, bound, proved = self._cheapest(programme, relaxed, best)
        if proved:
            best = self._earliest(programme, relaxed, best)
        return self._outcome(best, bound, proved and proved_out, relaxed)

    def _each_alone(self, runs: Sequence[Run]) -> float:
        """The bound that needs no solver: every task at its best, as if it were alone."""
        found = [best_run(self.problem, run.task) for run in runs]
        return fsum(best.cost for best in found if best)

    def _feasible(self, programme: Programme) -> list[Run] | None:
        """Return any plan of the programme: what there is to fall back on if the search for money finds nothing."""
        return self._decoded(solve(programme, np.zeros(self.model.build.columns.count), self.budget))

    def _outcome(self, runs: list[Run], bound: float, proved: bool, relaxed: Relaxed | None) -> Outcome:
        runs = in_order_of_ids(self.problem, _in_turn(self.problem, _missing(self.problem, runs), runs))
        prices = relaxed.row_prices if relaxed else np.zeros(0)
        times = [
            TimePrice(row.machines, row.begin, row.end, float(prices[row.row]))
            for row in self.model.priced_rows
            if relaxed and prices[row.row] > 0
        ]
        value = relaxed.value if relaxed else -np.inf
        return Outcome(runs, _missing(self.problem, runs), value, bound, proved, times)

    def _fewest_left_out(self) -> tuple[list[Run], list[int], bool]:
        """Return a plan with as many tasks as can be, the important first; how many of each priority it leaves out."""
        order = sorted(self.problem.tasks, key=lambda t: (-t.priority, t.deadline - t.lo, t.id))
        best, counts, proved = _in_turn(self.problem, order), list[int](), True
        for i, priority in enumerate(self.model.priorities):
            objective = np.zeros(len(self.model.cost))
            objective[self.model.left_out(priority)] = 1.0
            solved = solve(self.model.programme(counts), objective, self.budget)
            runs = self._decoded(solved)
            best = runs if runs is not None and self._out_by_priority(runs) <= self._out_by_priority(best) else best
            counts.append(self._out_by_priority(best)[i])
            proved = proved and solved.proved and runs is not None and self._out_by_priority(runs)[i] == counts[i]
        return best, counts, proved

    def _out_by_priority(self, runs: Sequence[Run]) -> list[int]:
        """How many tasks of each priority a plan leaves out, the most important first: less is better."""
        missing = [task.priority for task in _missing(self.problem, runs)]
        return [missing.count(priority) for priority in self.model.priorities]

    def _decoded(self, solved: Solved) -> list[Run] | None:
        """Return the solver's runs on real machines; None where it has none, or they don't hold when checked."""
        runs = self.model.runs(solved.x) if solved.x is not None else None
        return runs if runs is not None and holds(self.problem, runs) else None

    def _rounded(self, relaxed: Relaxed) -> list[Run]:
        """Keep what the relaxation has decided, and place the rest in turn."""
        decided = self.model.runs(relaxed.x) or []
        decided = decided if holds(self.problem, decided) else []
        placed = {run.task.id for run in decided}
        rest = [task for task in self.problem.tasks if task.id not in placed]
        return _in_turn(self.problem, sorted(rest, key=lambda t: (t.deadline - t.lo, t.id)), decided)

    def _better(self, best: list[Run], other: list[Run]) -> list[Run]:
        """Return `best`, or the polished `other` if that is better."""
        if self._out_by_priority(other) != self._out_by_priority(best):
            return min(best, other, key=self._out_by_priority)
        other = polished(self.problem, other)
        return other if is_better(self.problem, other, best) else best

    def _sequence(self, relaxed: Relaxed, best: list[Run]) -> list[Run] | None:
        """Return the cheapest plan where all tasks run one after another and are few enough to try every order."""
        if not is_sequence(self.model) or _missing(self.problem, best):
            return None
        found = cheapest_sequence(self.model, relaxed, total_cost(self.problem, best))
        if found is None:
            return None
        best = self._better(best, found) if found else best
        every = finer_starts(self.model)
        finer = cheapest_sequence(self.model, relaxed, total_cost(self.problem, best), every) if every else None
        return self._better(best, finer) if finer else best

    def _cheapest(self, programme: Programme, relaxed: Relaxed, best: list[Run]) -> tuple[list[Run], float, bool]:
        """Close the gap between the relaxation and the best plan known, looking only at starts that could.

        The few starts nearest to the relaxation come first; then plans with at least one of the others.
        """
        bound, done, cheapest = relaxed.value, 0.0, total_cost(self.problem, best)
        for few in (True, False):
            slack = total_cost(self.problem, best) - relaxed.value
            reach = self._core(relaxed, slack) if few else slack
            if reach <= done + SAME_MONEY:
                return best, bound, True
            within = replace(programme, upper=self._within(programme, relaxed, reach))
            wanted = self._beyond(within, relaxed, done, cheapest) if done else within
            solved = solve(wanted, self.model.cost, self.budget)
            runs = self._decoded(solved)
            cheapest = total_cost(self.problem, runs) if runs else cheapest
            best = self._better(best, runs) if runs else best
            cost = total_cost(self.problem, best)
            known = solved.bound if solved.x is not None else np.inf if solved.proved else relaxed.value
            bound = max(bound, min(cost, known, relaxed.value + reach))
            if not solved.proved or (solved.x is not None and runs is None):
                return best, bound, False
            done = reach
        return best, bound, True

    def _core(self, relaxed: Relaxed, slack: float) -> float:
        """The slack that leaves some columns for each task; the whole where it leaves nearly all or nothing."""
        many = CORE * len(self.problem.tasks)
        ordered = np.sort(relaxed.reduced)
        some = float(ordered[many]) if many < len(ordered) else slack
        return some if SAME_MONEY < some <= slack / 2 else slack

    def _beyond(self, programme: Programme, relaxed: Relaxed, done: float, cost: float) -> Programme:
        """Ask for something cheaper than `cost` that lifts the relaxation by more than `done`."""
        cheaper = self._costing(programme, cost - SAME_MONEY)
        if not programme.integer.all():
            return cheaper
        fresh = (programme.upper > 0) & (relaxed.reduced > done + SAME_MONEY)
        return with_row(cheaper, sparse.csr_array(-fresh[None].astype(np.float64)), -1.0)

    def _costing(self, programme: Programme, most: float) -> Programme:
        """The same, for no more money than `most`."""
        scale = 1e4 / max(float(np.abs(self.model.cost).max()), 1e-12)
        return with_row(programme, sparse.csr_array(self.model.cost[None] * scale), most * scale)

    def _within(self, programme: Programme, relaxed: Relaxed, slack: float) -> Floats:
        """Bound every column to what doesn't lift the relaxation by more than `slack`."""
        highest = np.divide(
            slack + SAME_MONEY, relaxed.reduced, out=np.ones_like(relaxed.reduced), where=relaxed.reduced > 0
        )
        whole = np.where(highest < 1, 0.0, programme.upper)
        return np.where(programme.integer, whole, np.minimum(programme.upper, highest))

    def _earliest(self, programme: Programme, relaxed: Relaxed, best: list[Run]) -> list[Run]:
        """Among plans of the same cost, look for one with an earlier sum of ends."""
        cost = total_cost(self.problem, best)
        upper = self._within(programme, relaxed, cost - relaxed.value)
        is_quick = np.count_nonzero(upper) <= FEW_TIES or cost - relaxed.value <= SAME_MONEY
        if not is_quick or not self.model.can_end_earlier(upper, sum_of_ends(best)):
            return best
        capped = self._costing(replace(programme, upper=upper), cost + SAME_MONEY)
        runs = self._decoded(solve(capped, self.model.ends(), self.budget))
        return self._better(best, runs) if runs else best


def _missing(problem: Problem, runs: Sequence[Run]) -> list[Task]:
    placed = {run.task.id for run in runs}
    missing = [task for task in problem.tasks if task.id not in placed]
    return sorted(missing, key=lambda task: (-task.priority, task.id))
