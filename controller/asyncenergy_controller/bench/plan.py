"""What a benchmark is going to do: suites as data, and the units that a run is made of."""

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SEED = 1234
SUITES = ("smoke", "quick", "calibrate", "reference", "run", "sweep")
Thinking = Literal["on", "off", "default"]
SettingValue = str | float | bool
NAMED_SETTINGS = ("cuda_graphs", "kv_cache")


class Timings(BaseModel):
    """Seconds metered around the questions."""

    model_config = ConfigDict(frozen=True)

    idle_s: float = Field(10.0, ge=0)
    lead_in_s: float = Field(2.0, ge=0)


class Unit(BaseModel):
    """One task under one configuration: it becomes one run of the bundle (more where it was resumed)."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    task: str
    n_items: int = Field(ge=1, le=5_000)
    dataset_revision: str | None = None
    n_shot: int | None = Field(None, ge=0, le=64)
    level: int | None = Field(None, ge=1)
    max_tokens: int | None = Field(None, ge=1)
    temperature: float = Field(0.0, ge=0, allow_inf_nan=False)
    concurrency: int = Field(1, ge=1, le=4096)
    thinking: Thinking = "off"
    reasoning_effort: str | None = None
    repeat_index: int = Field(0, ge=0)
    power_cap: float | None = Field(None, gt=0, lt=1, description="fraction of the factory default")
    clock_lock_mhz: int | None = Field(None, gt=0)
    settings: dict[str, SettingValue] = Field(default_factory=dict)

    @property
    def label(self) -> str:
        """Name of this unit in progress, report and directory."""
        marks = [self.task]
        marks += [f"x{self.concurrency}"] if self.concurrency > 1 else []
        marks += [f"cap{self.power_cap * 100:.0f}"] if self.power_cap else []
        marks += [f"clock{self.clock_lock_mhz}"] if self.clock_lock_mhz else []
        marks += [f"r{self.repeat_index}"] if self.repeat_index else []
        return "-".join(marks)


class Pinned(BaseModel):
    """The only weights that a suite is valid for, and where they come from."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    model: str
    quantization: str
    engine: str
    source: str


class Plan(BaseModel):
    """A whole benchmark. It is written down before anything runs, and a resumed run follows what it says."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    suite: str
    units: tuple[Unit, ...] = Field(min_length=1)
    seed: int = SEED
    timings: Timings = Timings()
    time_limit_s: float | None = Field(None, gt=0, allow_inf_nan=False)
    pinned: Pinned | None = None

    @property
    def n_items(self) -> int:
        return sum(unit.n_items for unit in self.units)


def bundle_settings(given: Mapping[str, SettingValue]) -> dict[str, Any]:
    """What `--set` gave as a bundle holds it: some settings have a place of their own."""
    named = {name: given[name] for name in NAMED_SETTINGS if name in given}
    return {**named, "extra": {name: value for name, value in given.items() if name not in named}}


def item_order(indices: Sequence[int], *, seed: int, unit: Unit, after: int | None = None) -> list[int]:
    """Positions 0..n-1 in the seeded order they are asked in.

    `after` is the item index asked last before this unit: the order never starts with that same item.
    """
    order = list(range(len(indices)))
    random.Random(f"{seed}:{unit.task}:{unit.repeat_index}").shuffle(order)  # noqa: S311 - an order, not a secret
    if len(order) > 1 and indices[order[0]] == after:
        order.append(order.pop(0))
    return order


def repeated(units: Iterable[Unit], repeats: int) -> tuple[Unit, ...]:
    """Every unit `repeats` times, one whole round after the other."""
    once = tuple(units)
    return tuple(unit.model_copy(update={"repeat_index": i}) for i in range(repeats) for unit in once)


def with_power_caps(unit: Unit, fractions: Iterable[float | None]) -> tuple[Unit, ...]:
    """The unit at each fraction of the factory default; None is the stock point."""
    return tuple(unit.model_copy(update={"power_cap": fraction}) for fraction in fractions)


def with_clock_locks(unit: Unit, clocks_mhz: Iterable[int | None]) -> tuple[Unit, ...]:
    """The unit at each locked clock; None leaves the clock alone."""
    return tuple(unit.model_copy(update={"clock_lock_mhz": clock}) for clock in clocks_mhz)
