"""Rows that differ in one setting alone, on one machine: what a power cap or a clock lock does. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from asyncenergy_controller.metrics import Flexibility, SweepPoint, deepest_keeping, flexibility

from bench.configuration import config_key

SETTINGS = {"power_cap": "power_limit_w", "clock_lock": "clock_lock_mhz"}
UNITS = {"power_cap": "W", "clock_lock": "MHz"}
MIN_POINTS = 2


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one machine measured in one configuration on one task."""

    config: Mapping[str, Any]
    config_key: str
    task: str
    verified: bool
    machine: str
    node: str | None
    run_id: str
    tokens_per_second: float | None
    mean_w: float | None
    joules_per_token: float | None
    joules_per_correct_answer: float | None
    accuracy: float | None

    @property
    def is_whole(self) -> bool:
        return None not in (self.tokens_per_second, self.mean_w, self.joules_per_token)

    def point(self, setting: float | None) -> SweepPoint:
        return SweepPoint(setting, self.tokens_per_second or 0.0, self.mean_w or 0.0, self.joules_per_token or 0.0)


@dataclass(frozen=True, slots=True)
class Sweep:
    """The points of one family, the stock setting first, then the deepest last."""

    kind: str
    family: str
    points: tuple[Measurement, ...]

    @property
    def first(self) -> Measurement:
        return self.points[0]

    def setting(self, point: Measurement) -> float | None:
        value: float | None = point.config.get(SETTINGS[self.kind])
        return value

    @property
    def measured(self) -> list[SweepPoint]:
        return [point.point(self.setting(point)) for point in self.points]

    @property
    def flexibility(self) -> Flexibility | None:
        """None with fewer than four points or without one stock point."""
        return flexibility(self.measured)

    @property
    def flex_share(self) -> float | None:
        """Part of the stock power, 0..1, that can be given up at 95 % of the speed."""
        found, stock = self.flexibility, self.measured[0]
        return found.flex_band_w / stock.mean_w if found and stock.mean_w else None

    def deepest_w(self, tolerance_pct: float) -> float | None:
        """The lowest setting that costs at most so much of the stock speed; None where stock was not measured."""
        stock = next((point for point in self.measured if point.setting is None), None)
        return deepest_keeping(self.measured, stock, 1 - tolerance_pct / 100).setting if stock else None

    def as_dict(self) -> dict[str, Any]:
        """As every reader gets it; `machine`, which is no public name, stays out."""
        first, found = self.first, self.flexibility
        config = {name: value for name, value in first.config.items() if name != SETTINGS[self.kind]}
        return {
            "kind": self.kind,
            "unit": UNITS[self.kind],
            "family": self.family,
            "task": first.task,
            "node": first.node,
            "verified": first.verified,
            **{name: config.get(name) for name in ("model", "quantization", "engine", "engine_version", "gpu_class")},
            "energy_boundary": config.get("energy_boundary"),
            "source_family": config.get("source_family"),
            **(asdict(found) if found else dict.fromkeys(("flex_band_w", "knee_savings_pct", "turndown_ratio"))),
            "points": [self._point(point) for point in self.points],
        }

    def _point(self, point: Measurement) -> dict[str, Any]:
        names = ("config_key", "run_id", "tokens_per_second", "mean_w", "joules_per_token", "joules_per_correct_answer")
        setting = self.setting(point)
        return {
            "setting": setting,
            "is_stock": setting is None,
            **{name: getattr(point, name) for name in names},
            "accuracy": point.accuracy,
        }


def sweeps(measurements: Iterable[Measurement]) -> list[Sweep]:
    """Every family with at least two settings on one machine and task, in a stable order."""
    families: dict[tuple[str, str, str, str], list[Measurement]] = defaultdict(list)
    for one in measurements:
        if one.is_whole:
            for kind, setting in SETTINGS.items():
                families[kind, config_key({**one.config, setting: None}), one.task, one.machine].append(one)
    found = [_sweep(kind, family, group) for (kind, family, _, _), group in sorted(families.items())]
    return [sweep for sweep in found if len(sweep.points) >= MIN_POINTS]


def _sweep(kind: str, family: str, group: list[Measurement]) -> Sweep:
    def depth(point: Measurement) -> tuple[bool, float]:
        setting = point.config.get(SETTINGS[kind])
        return setting is not None, -(setting or 0.0)

    return Sweep(kind, family, tuple(sorted(group, key=depth)))
