"""Rows that differ in one setting alone, on one machine: what that setting does to energy, speed and accuracy. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

from asyncenergy_controller.metrics import Flexibility, SweepPoint, deepest_keeping, flexibility

from bench.configuration import config_key

MIN_SETTINGS = 2
_STEPS = {word: step for step, word in enumerate(("off", "none", "minimal", "low", "medium", "high", "on"))}
FIGURES = (
    "tokens_per_second",
    "mean_w",
    "joules_per_token",
    "joules_per_correct_answer",
    "jpc_ci_low",
    "jpc_ci_high",
    "accuracy",
    "accuracy_ci_low",
    "accuracy_ci_high",
)
POINT_FIELDS = ("setting", "is_stock", "config_key", "run_id", *FIGURES)
_NAMED = {"tokens_per_second": "pooled_tokens_per_second", "mean_w": "mean_gpu_w"}  # as pooling calls them


@dataclass(frozen=True, slots=True)
class Kind:
    """What the rows of a sweep may differ in: `shown` is the setting, `follows` comes with it. With `has_stock` null
    is the device's own setting, else null is not recorded and such rows stay out."""

    shown: tuple[str, ...]
    unit: str | None = None
    follows: tuple[str, ...] = ()
    has_stock: bool = False

    @property
    def free(self) -> frozenset[str]:
        return frozenset((*self.shown, *self.follows))

    def setting(self, config: Mapping[str, Any]) -> float | str | None:
        if len(self.shown) == 1:
            value: float | str | None = config.get(self.shown[0])
            return value
        return " ".join(str(config[name]) for name in self.shown if config.get(name)) or None


KINDS = {
    "power_cap": Kind(("power_limit_w",), "W", has_stock=True),
    "clock_lock": Kind(("clock_lock_mhz",), "MHz", has_stock=True),
    "concurrency": Kind(("concurrency",)),
    "quantization": Kind(("quantization",), follows=("weights_repo", "weights_revision", "weights_digest")),
    "engine": Kind(("engine", "engine_version")),
    "thinking": Kind(("thinking_mode",)),
    "effort": Kind(("reasoning_effort",)),
    "output_cap": Kind(("max_tokens",), "tokens"),
    "cuda_graphs": Kind(("cuda_graphs",)),
}


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
    jpc_ci_low: float | None
    jpc_ci_high: float | None
    accuracy: float | None
    accuracy_ci_low: float | None
    accuracy_ci_high: float | None
    stock_limit_w: float | None = None

    @classmethod
    def of(
        cls, machine: Mapping[str, Any], config: Mapping[str, Any], config_key: str, task: str, *, verified: bool
    ) -> "Measurement":
        """`machine` as pooling tells it."""
        return cls(
            config=config,
            config_key=config_key,
            task=task,
            verified=verified,
            machine=machine["machine"],
            node=machine["node"],
            run_id=machine["run_id"],
            stock_limit_w=machine["stock_limit_w"],
            **{name: machine.get(_NAMED.get(name, name)) for name in FIGURES},
        )

    @property
    def is_whole(self) -> bool:
        return None not in (self.tokens_per_second, self.mean_w, self.joules_per_token)

    def point(self, setting: float | None) -> SweepPoint:
        return SweepPoint(setting, self.tokens_per_second or 0.0, self.mean_w or 0.0, self.joules_per_token or 0.0)


@dataclass(frozen=True, slots=True)
class Sweep:
    """The points of one family: the stock setting first and the deepest last, others in their order."""

    kind: str
    family: str
    points: tuple[Measurement, ...]

    @property
    def first(self) -> Measurement:
        return self.points[0]

    def setting(self, point: Measurement) -> float | str | None:
        return KINDS[self.kind].setting(point.config)

    @property
    def stock_limit_w(self) -> float | None:
        return max((point.stock_limit_w for point in self.points if point.stock_limit_w is not None), default=None)

    @property
    def measured(self) -> list[SweepPoint]:
        """For kinds whose setting is a number or stock."""
        return [point.point(cast(float | None, self.setting(point))) for point in self.points]

    @property
    def flexibility(self) -> Flexibility | None:
        """None for other kinds than caps and locks, with fewer than four points, or without one stock point."""
        return flexibility(self.measured) if KINDS[self.kind].has_stock else None

    @property
    def flex_share(self) -> float | None:
        """Part of the stock power, 0..1, that can be given up at 95 % of the speed."""
        found, stock_w = self.flexibility, self.first.mean_w
        return found.flex_band_w / stock_w if found and stock_w else None

    def as_dict(self) -> dict[str, Any]:
        """As every reader gets it; `machine`, which is no public name, stays out."""
        first, found = self.first, self.flexibility
        kind = KINDS[self.kind]
        config = {name: value for name, value in first.config.items() if name not in kind.free}
        return {
            "kind": self.kind,
            "unit": kind.unit,
            "family": self.family,
            "task": first.task,
            "node": first.node,
            "verified": first.verified,
            **{name: config.get(name) for name in ("model", "quantization", "engine", "engine_version", "gpu_class")},
            "stock_limit_w": self.stock_limit_w,
            "energy_boundary": config.get("energy_boundary"),
            "source_family": config.get("source_family"),
            **(asdict(found) if found else dict.fromkeys(("flex_band_w", "knee_savings_pct", "turndown_ratio"))),
            "points": [self._point(point) for point in self.points],
        }

    def _point(self, point: Measurement) -> dict[str, Any]:
        setting = self.setting(point)
        return {
            "setting": setting,
            "is_stock": setting is None,
            "config_key": point.config_key,
            "run_id": point.run_id,
            **{name: getattr(point, name) for name in FIGURES},
        }


def sweeps(measurements: Iterable[Measurement]) -> list[Sweep]:
    """Every family with at least two settings on one machine and task, in a stable order."""
    families: dict[tuple[str, str, str, str], list[Measurement]] = defaultdict(list)
    for one in measurements:
        for name in _kinds_of(one):
            rest = {**one.config, **dict.fromkeys(KINDS[name].free)}
            families[name, config_key(rest), one.task, one.machine].append(one)
    found = [_sweep(name, family, group) for (name, family, _, _), group in sorted(families.items())]
    return [sweep for sweep in found if len(set(map(sweep.setting, sweep.points))) >= MIN_SETTINGS]


def _kinds_of(one: Measurement) -> list[str]:
    """The kinds in whose sweeps a measurement may stand."""
    if not one.is_whole:
        return []
    return [name for name, kind in KINDS.items() if kind.has_stock or kind.setting(one.config) is not None]


def _sweep(name: str, family: str, group: list[Measurement]) -> Sweep:
    kind = KINDS[name]

    def place(point: Measurement) -> tuple[bool, float, str]:
        setting = kind.setting(point.config)
        number = setting if isinstance(setting, int | float) else float(_STEPS.get(str(setting), 0))
        return setting is not None, -number if kind.has_stock else number, str(setting)

    return Sweep(name, family, tuple(sorted(group, key=place)))


def recommended_cap_w(found: Iterable[Mapping[str, Any]], tolerance_pct: float) -> float | None:
    """The deepest measured cap that costs at most so much of the stock speed in every one of these sweeps, as readers
    get them. Never above stock; None where stock itself was not measured, or every cap costs more."""
    caps = [_deepest_w(sweep, 1 - tolerance_pct / 100) for sweep in found]
    kept = [cap for cap in caps if cap is not None]
    return max(kept) if kept and len(kept) == len(caps) else None


def _deepest_w(sweep: Mapping[str, Any], share: float) -> float | None:
    highest = sweep["stock_limit_w"] or float("inf")
    points = [
        SweepPoint(point["setting"], point["tokens_per_second"], point["mean_w"], point["joules_per_token"])
        for point in sweep["points"]
        if (point["setting"] or 0.0) <= highest
    ]
    stock = next((point for point in points if point.setting is None), None)
    return deepest_keeping(points, stock, share).setting if stock else None
