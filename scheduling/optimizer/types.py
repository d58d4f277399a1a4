"""What goes into a plan and what comes out. Every datetime is aware; money is in the currency of the prices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import fsum
from typing import Any, Literal

Power = float | Sequence[tuple[float, float]]
"""Watts, or a profile of (seconds, watts) steps; what a profile leaves of the reserved time draws 0 W."""


@dataclass(frozen=True, slots=True)
class PricePoint:
    """The price of one kWh from `start` to `end` (half-open). A time without a point has no price and is never used."""

    start: datetime
    end: datetime
    price_per_kwh: float


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to run a job, for example under a power cap."""

    duration_s: float
    power_w: Power
    label: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """Work with a deadline. `duration_s` is the time kept free for it; `priority`: larger is more important.

    `machine=""` means any. `modes` are further ways to run it, beside its own duration and power. An interruptible job
    draws constant power; its pieces last at least `min_run_s`, and each piece after the first costs `restart_wh` more.
    """

    id: str
    duration_s: float
    power_w: Power
    earliest_start: datetime
    deadline: datetime
    priority: int = 0
    machine: str = ""
    interruptible: bool = False
    min_run_s: float = 0
    restart_wh: float = 0.0
    modes: tuple[Mode, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """One uninterrupted run, UTC, half-open."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Placement:
    """Where and when a job runs. A job without modes has one: its own duration and power."""

    id: str
    machine: str
    mode: Mode
    pieces: tuple[Piece, ...]
    energy_wh: float
    cost: float

    @property
    def start(self) -> datetime:
        return self.pieces[0].start

    @property
    def end(self) -> datetime:
        return self.pieces[-1].end


@dataclass(frozen=True, slots=True)
class Infeasible:
    """A job that can't be placed.

    `reason`: `not_in_horizon`, `no_price`, `capacity`, `watt_limit`, or a sentence such as `duration 5h > window 3h30`.
    `smallest_change` says in words what would make it fit beside the jobs that are placed, `later_min` and `more_watts`
    say it in numbers; all three are None where no change of that kind is known to help.
    `proof`: "window" follows from the job's own window; "solver" is the solver's word.
    """

    id: str
    reason: str
    smallest_change: str | None
    proof: Literal["window", "solver"]
    later_min: int | None = None
    more_watts: float | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The cheapest placement found, with its proof.

    `lower_bound`: no plan of the same jobs costs less, at whatever instants they start; `certificate` lets anybody
    check that. `solver_bound`: the solver's bound on its grid. `proved`: the solver closed its gap on the grid.
    `time_limited`: the clock stopped the search, so that a repetition may differ. `baseline_costs`: by job id, each
    placed job begun as early as possible.
    """

    placements: tuple[Placement, ...]
    infeasible: list[Infeasible]
    cost: float
    lower_bound: float
    solver_bound: float
    baseline_costs: Mapping[str, float]
    certificate: dict[str, Any]
    proved: bool
    time_limited: bool
    pinned: tuple[str, ...] = field(default=())

    @property
    def gap(self) -> float:
        """What the plan may cost above the cheapest conceivable one, in currency."""
        return self.cost - self.lower_bound

    @property
    def baseline_cost(self) -> float:
        """What the placed jobs cost, each begun as early as possible."""
        return fsum(self.baseline_costs.values())
