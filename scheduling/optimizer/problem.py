"""The question in the optimizer's own terms: tasks with options, machines with capacity, pinned runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import fsum, isfinite

from scheduling.optimizer.curve import HOUR, Curve, curve_from, instant, span
from scheduling.optimizer.types import Job, Mode, Placement, PricePoint

Step = tuple[int, int, float]


@dataclass(frozen=True)
class Option:
    """One way to run a task: how long it holds the machine, and its power over offsets from the start."""

    mode: Mode
    duration: int
    steps: tuple[Step, ...]

    @property
    def shape(self) -> tuple[int, tuple[Step, ...]]:
        return self.duration, self.steps

    @property
    def peak_w(self) -> float:
        return max(watts for _, _, watts in self.steps)

    @property
    def offsets(self) -> tuple[int, ...]:
        """Where a step begins or ends; the cost of a start can only bend where one of them meets a price edge."""
        return tuple(sorted({edge for begin, end, _ in self.steps for edge in (begin, end)}))


@dataclass(frozen=True)
class Task:
    """A job, its window cut to what is still ahead and priced: from `lo` to `deadline`.

    `opens` and `due` are the window's ends with only the past cut off.
    """

    id: str
    lo: int
    deadline: int
    opens: int
    due: int
    priority: int
    machines: tuple[str, ...]
    options: tuple[Option, ...]
    interruptible: bool = False
    min_run: int = 0
    restart_wh: float = 0.0

    @property
    def fitting(self) -> tuple[Option, ...]:
        """The ways that are short enough for the window."""
        return tuple(option for option in self.options if option.duration <= self.deadline - self.lo)


@dataclass(frozen=True)
class Run:
    """A task placed: on which machine, in which way, and when (pieces of whole microseconds)."""

    task: Task
    machine: str
    option: Option
    pieces: tuple[tuple[int, int], ...]

    @property
    def start(self) -> int:
        return self.pieces[0][0]

    @property
    def end(self) -> int:
        return self.pieces[-1][1]

    def draws(self) -> list[Step]:
        """Return (begin, end, watts) in absolute time."""
        if self.task.interruptible:
            return [(begin, end, self.option.peak_w) for begin, end in self.pieces]
        return [(self.start + begin, self.start + end, watts) for begin, end, watts in self.option.steps]

    def cost(self, curve: Curve) -> float:
        """Money for the energy; a restart is counted at the price of its instant, and never earns."""
        restarts = [max(curve.at(begin), 0.0) for begin, _ in self.pieces[1:]] if self.task.restart_wh else []
        draws = [curve.money(*step) for step in self.draws()]
        return fsum([*draws, *(price * self.task.restart_wh / 1000 for price in restarts)])

    def energy_wh(self) -> float:
        restarts = self.task.restart_wh * (len(self.pieces) - 1)
        return fsum([*((end - begin) / HOUR * watts for begin, end, watts in self.draws()), restarts])


@dataclass(frozen=True)
class Problem:
    curve: Curve
    capacity: Mapping[str, int]
    limit_w: float | None
    tasks: tuple[Task, ...]
    pinned: tuple[Run, ...] = ()

    def only(self, tasks: Iterable[Task]) -> "Problem":
        return replace(self, tasks=tuple(tasks))


def options_of(job: Job) -> tuple[Option, ...]:
    """Return the job's modes, each once, its own duration and power last; ValueError where one makes no sense."""
    own = _option(job, Mode(job.duration_s, job.power_w))
    options: list[Option] = []
    for option in [_option(job, mode) for mode in job.modes]:
        if option.shape == own.shape:
            own = option
        elif all(option.shape != other.shape for other in options):
            options.append(option)
    return (*options, own)


def _option(job: Job, mode: Mode) -> Option:
    duration = span(_positive(job, "duration_s", mode.duration_s))
    steps = _steps(job, mode, duration)
    if job.interruptible and len(steps) > 1:
        raise ValueError(f"job {job.id!r} is interruptible, so its power_w must be one number for its whole duration")
    return Option(mode, duration, steps)


def _steps(job: Job, mode: Mode, duration: int) -> tuple[Step, ...]:
    profile = [(mode.duration_s, mode.power_w)] if isinstance(mode.power_w, int | float) else list(mode.power_w)
    steps: list[Step] = []
    begin = 0
    for seconds, watts in profile:
        end = begin + span(_positive(job, "a step's seconds", seconds))
        steps.append((begin, end, _not_negative(job, "power_w", watts)))
        begin = end
    if begin > duration:
        raise ValueError(f"job {job.id!r}: its power profile lasts longer than its duration_s {mode.duration_s}")
    return (*steps, (begin, duration, 0.0)) if begin < duration else tuple(steps)


def _positive(job: Job, name: str, value: float) -> float:
    if not (isfinite(value) and span(value) > 0):
        raise ValueError(f"job {job.id!r}: {name} must be above 0, got {value}")
    return value


def _not_negative(job: Job, name: str, value: float) -> float:
    if not (isfinite(value) and value >= 0):
        raise ValueError(f"job {job.id!r}: {name} must not be below 0, got {value}")
    return float(value)


def machines_of(capacity: int | Mapping[str, int], jobs: Sequence[Job], pinned: Sequence[Placement]) -> dict[str, int]:
    """Return each machine's capacity. One that a job names and `capacity` doesn't runs one job at a time."""
    known = capacity if isinstance(capacity, Mapping) else {}
    default = capacity if isinstance(capacity, int) else 1
    names = {*known, *(job.machine for job in jobs), *(p.machine for p in pinned)} - {""}
    machines = {name: int(known.get(name, default)) for name in sorted(names or {""})}
    for name, many in machines.items():
        if many < 0:
            raise ValueError(f"the capacity of machine {name!r} must not be below 0, got {many}")
    return machines


def task_of(job: Job, curve: Curve, now: int, machines: Iterable[str]) -> Task:
    """Return the job as a task; its window starts no earlier than `now` and the first known price."""
    opens = max(instant(job.earliest_start, f"earliest_start of job {job.id!r}"), now)
    due = instant(job.deadline, f"deadline of job {job.id!r}")
    _not_negative(job, "min_run_s", job.min_run_s)
    _not_negative(job, "restart_wh", job.restart_wh)
    names = (job.machine,) if job.machine else tuple(machines)
    options = options_of(job)
    return Task(
        id=job.id,
        lo=max(opens, curve.start),
        deadline=min(due, curve.end),
        opens=opens,
        due=due,
        priority=job.priority,
        machines=names,
        options=options,
        interruptible=job.interruptible,
        min_run=span(job.min_run_s),
        restart_wh=job.restart_wh,
    )


def pinned_run(placement: Placement, task: Task | None, machine: str) -> Run:
    """Return a run that stays as it is; the power of one whose job is not given is its mean."""
    pieces = tuple((instant(p.start, "a pinned start"), instant(p.end, "a pinned end")) for p in placement.pieces)
    if task is not None:
        return Run(task, machine, _matching(placement, task), pieces)
    busy = sum(end - begin for begin, end in pieces)
    watts = placement.energy_wh * HOUR / busy
    option = Option(placement.mode, busy, ((0, busy, watts),))
    lo, deadline = pieces[0][0], pieces[-1][1]
    stranger = Task(placement.id, lo, deadline, lo, deadline, 0, (machine,), (option,), interruptible=True)
    return Run(stranger, machine, option, pieces)


def _matching(placement: Placement, task: Task) -> Option:
    for option in task.options:
        if option.mode == placement.mode:
            return option
    raise ValueError(f"pinned job {task.id!r} runs in mode {placement.mode}, which the job does not have")


def problem_from(
    prices: Sequence[PricePoint],
    jobs: Sequence[Job],
    *,
    now: datetime,
    capacity: int | Mapping[str, int],
    watt_limit: float | None,
    pinned: Sequence[Placement],
) -> Problem:
    """Return the whole question, checked. ValueError names what is wrong, its value and the way out."""
    at = instant(now, "now")
    ids = [job.id for job in jobs]
    if len(set(ids)) < len(ids):
        raise ValueError(f"job ids must differ, got {sorted(i for i in set(ids) if ids.count(i) > 1)} more than once")
    if watt_limit is not None and not watt_limit > 0:
        raise ValueError(f"watt_limit must be above 0, or None for no limit, got {watt_limit}")
    curve = curve_from(prices, at)
    machines = machines_of(capacity, jobs, pinned)
    tasks = {job.id: task_of(job, curve, at, machines) for job in sorted(jobs, key=lambda job: job.id)}
    fixed = [pinned_run(p, tasks.pop(p.id, None), p.machine or next(iter(machines))) for p in pinned]
    return Problem(
        curve, machines, None if watt_limit is None else float(watt_limit), tuple(tasks.values()), tuple(fixed)
    )
