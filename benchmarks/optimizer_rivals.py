"""What the optimizer is measured against, on a 5-minute grid: earliest start, greedy, and OR-Tools CP-SAT."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil, floor
from time import perf_counter, process_time

from ortools.sat.python import cp_model

from scheduling.optimizer import Job, PricePoint

SLOT_S = 300
MONEY = 1e9  # CP-SAT counts in whole numbers: nano-units of currency


@dataclass(frozen=True)
class Answer:
    """A plan's cost (None: not every job placed), the bound it comes with, and the time it took."""

    cost: float | None
    bound: float | None
    proved: bool
    seconds: float
    cpu_seconds: float


def watts_of(job: Job) -> float:
    """The constant power of a job; profiles are not for these rivals."""
    if not isinstance(job.power_w, int | float):
        raise TypeError(f"{job.id} has a power profile")
    return float(job.power_w)


class Clock:
    """Seconds on the wall and of this process, since it was made."""

    def __init__(self) -> None:
        self.begun = perf_counter(), process_time()

    def read(self) -> tuple[float, float]:
        return perf_counter() - self.begun[0], process_time() - self.begun[1]


@dataclass
class _Grid:
    """The horizon in slots: money per kW in each, and what is already used."""

    prices: Sequence[PricePoint]
    machines: Sequence[str]
    watt_limit: float | None
    kw_cost: list[float] = field(default_factory=list)
    busy: dict[str, list[bool]] = field(default_factory=dict)
    watts: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        for point in self.prices:
            slots = int((point.end - point.start).total_seconds()) // SLOT_S
            self.kw_cost += [point.price_per_kwh * SLOT_S / 3600] * slots
        self.busy = {machine: [False] * len(self.kw_cost) for machine in self.machines}
        self.watts = [0.0] * len(self.kw_cost)

    def window(self, job: Job) -> tuple[int, int, int]:
        """First slot, slot after the last, and slots needed."""
        start = self.prices[0].start
        opens = ceil((job.earliest_start - start).total_seconds() / SLOT_S)
        closes = floor((job.deadline - start).total_seconds() / SLOT_S)
        return opens, min(closes, len(self.kw_cost)), ceil(job.duration_s / SLOT_S)

    def cost(self, job: Job, slots: Iterable[int]) -> float:
        return sum(self.kw_cost[slot] for slot in slots) * watts_of(job) / 1000

    def is_free(self, machine: str, slot: int, watts: float) -> bool:
        fits = self.watt_limit is None or self.watts[slot] + watts <= self.watt_limit
        return fits and not self.busy[machine][slot]

    def take(self, job: Job, machine: str, slots: Iterable[int]) -> None:
        for slot in slots:
            self.busy[machine][slot] = True
            self.watts[slot] += watts_of(job)


def earliest(
    prices: Sequence[PricePoint], jobs: Sequence[Job], machines: Sequence[str], watt_limit: float | None
) -> Answer:
    """Each job, by its deadline, as early as it fits."""
    return _one_by_one(prices, jobs, machines, watt_limit, lambda grid, job, slots: slots[-1])


def greedy(
    prices: Sequence[PricePoint], jobs: Sequence[Job], machines: Sequence[str], watt_limit: float | None
) -> Answer:
    """Each job, by its deadline, where it is cheapest beside those before it."""
    return _one_by_one(prices, jobs, machines, watt_limit, lambda grid, job, slots: grid.cost(job, slots))


def _one_by_one(
    prices: Sequence[PricePoint],
    jobs: Sequence[Job],
    machines: Sequence[str],
    watt_limit: float | None,
    worth: Callable[[_Grid, Job, list[int]], float],
) -> Answer:
    clock, grid, total, missing = Clock(), _Grid(prices, machines, watt_limit), 0.0, False
    for job in sorted(jobs, key=lambda job: (job.deadline, job.id)):
        ways = [(worth(grid, job, slots), machine, slots) for machine, slots in _ways(grid, job, worth)]
        if not ways:
            missing = True
            continue
        _, machine, slots = min(ways)
        grid.take(job, machine, slots)
        total += grid.cost(job, slots)
    return Answer(None if missing else total, None, False, *clock.read())


def _ways(grid: _Grid, job: Job, worth: Callable[[_Grid, Job, list[int]], float]) -> Iterable[tuple[str, list[int]]]:
    opens, closes, need = grid.window(job)
    for machine in grid.machines:
        free = [slot for slot in range(opens, closes) if grid.is_free(machine, slot, watts_of(job))]
        if job.interruptible and len(free) >= need:
            yield machine, sorted(sorted(free, key=lambda slot: worth(grid, job, [slot]))[:need])
        elif not job.interruptible:
            usable = set(free)
            runs = (list(range(first, first + need)) for first in range(opens, closes - need + 1))
            yield from ((machine, run) for run in runs if usable.issuperset(run))


def cp_sat(
    prices: Sequence[PricePoint],
    jobs: Sequence[Job],
    machines: Sequence[str],
    watt_limit: float | None,
    seconds: float,
) -> Answer:
    """The same choice of slots as intervals under no-overlap and cumulative, with two workers."""
    clock, grid, model = Clock(), _Grid(prices, machines, watt_limit), cp_model.CpModel()
    on: dict[str, list[cp_model.IntervalVar]] = {machine: [] for machine in machines}
    everywhere: list[tuple[cp_model.IntervalVar, int]] = []
    money: list[cp_model.LinearExprT] = []
    for job in jobs:
        chosen = [model.new_bool_var(f"{job.id} on {machine}") for machine in machines]
        model.add_exactly_one(chosen)
        for machine, here in zip(machines, chosen, strict=True):
            add = _slots if job.interruptible else _interval
            for interval in add(model, grid, job, here, money):
                on[machine].append(interval)
                everywhere.append((interval, round(watts_of(job))))
    for intervals in on.values():
        model.add_no_overlap(intervals)
    if watt_limit is not None:
        model.add_cumulative([i for i, _ in everywhere], [w for _, w in everywhere], int(watt_limit))
    model.minimize(sum(money))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds, solver.parameters.num_workers = seconds, 2
    status = solver.solve(model)
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    cost = solver.objective_value / MONEY if found else None
    return Answer(cost, solver.best_objective_bound / MONEY, status == cp_model.OPTIMAL, *clock.read())


def _interval(
    model: cp_model.CpModel, grid: _Grid, job: Job, here: cp_model.IntVar, money: list[cp_model.LinearExprT]
) -> list[cp_model.IntervalVar]:
    """A start among the grid's, with its cost looked up."""
    opens, closes, need = grid.window(job)
    costs = [round(MONEY * grid.cost(job, range(s, s + need))) for s in range(opens, closes - need + 1)]
    start = model.new_int_var(opens, closes - need, f"{job.id} start")
    paid = model.new_int_var(min(0, *costs), max(0, *costs), f"{job.id} cost")
    looked_up = model.new_int_var(min(costs), max(costs), f"{job.id} looked up")
    model.add_element(start - opens, costs, looked_up)
    model.add(paid == looked_up).only_enforce_if(here)
    model.add(paid == 0).only_enforce_if(here.negated())
    money.append(paid)
    return [model.new_optional_fixed_size_interval_var(start, need, here, job.id)]


def _slots(
    model: cp_model.CpModel, grid: _Grid, job: Job, here: cp_model.IntVar, money: list[cp_model.LinearExprT]
) -> list[cp_model.IntervalVar]:
    """A yes or no for each slot of the window."""
    opens, closes, need = grid.window(job)
    taken = [model.new_bool_var(f"{job.id} in {slot}") for slot in range(opens, closes)]
    model.add(sum(taken) == need * here)
    money += [round(MONEY * grid.cost(job, [slot])) * yes for slot, yes in enumerate(taken, opens)]
    return [model.new_optional_fixed_size_interval_var(slot, 1, yes, job.id) for slot, yes in enumerate(taken, opens)]
