"""How long a job will take and what it will draw, from what is known of it. Pure.

In this order: measured runs of the same work (`history`), the corpus's figures for its class (`bench_prior`), the watts
on its nameplate (`nameplate`). Where none of them is known nothing is guessed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, fsum
from typing import Literal

Method = Literal["history", "bench_prior", "nameplate"]
Profile = tuple[tuple[float, float], ...]
"""Steps of (seconds, watts)."""

FEW_RUNS = 5
MARGIN_OF_FEW = 1.1
MARGIN_OF_ESTIMATE = 1.25
HALF_LIFE_RUNS = 10.0
SHARES = 8
ALIKE = 0.05
HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class PastRun:
    """A successful run, newest first in a list. `shape`: relative watts over equal shares of its duration."""

    duration_s: float
    energy_wh: float | None = None
    shape: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """All that is known of a job before it runs."""

    runs: Sequence[PastRun] = ()
    est_duration_s: float | None = None
    nameplate_w: float | None = None
    prior_w: float | None = None


@dataclass(frozen=True, slots=True)
class Prediction:
    """`duration_s` and `profile` are the typical run, for its cost; `reserve_s` is kept free for it."""

    method: Method
    duration_s: float
    reserve_s: float
    profile: Profile
    n_runs: int = 0

    @property
    def energy_wh(self) -> float:
        return fsum(seconds * watts for seconds, watts in self.profile) / HOUR_S

    @property
    def mean_w(self) -> float:
        return self.energy_wh * HOUR_S / self.duration_s


@dataclass(frozen=True, slots=True)
class Unpredictable:
    """What would have to be given, by the name of its field."""

    missing: tuple[str, ...]

    @property
    def sentence(self) -> str:
        return f"nothing is known of its {_WORDS[self.missing]}: give {' and '.join(self.missing)}, or let it run once"


_WORDS = {
    ("est_duration_s",): "duration",
    ("nameplate_watts",): "power",
    ("est_duration_s", "nameplate_watts"): "duration and power",
}


def predict(known: Known) -> Prediction | Unpredictable:
    durations = _durations(known)
    watts = _watts(known)
    if durations is None or watts is None:
        missing = [("est_duration_s", durations), ("nameplate_watts", watts)]
        return Unpredictable(tuple(name for name, value in missing if value is None))
    duration_s, reserve_s = durations
    method, mean_w = watts
    shape = _shape(known.runs) if method == "history" else ()
    profile = _profile(duration_s, mean_w, shape)
    return Prediction(method, duration_s, max(reserve_s, duration_s), profile, len(known.runs))


def _durations(known: Known) -> tuple[float, float] | None:
    """The typical duration and the one to keep free, in whole seconds: all starts then fall on whole seconds."""
    seconds = [run.duration_s for run in known.runs]
    if seconds:
        return _whole(_quantile(seconds, 0.5)), _whole(_quantile(seconds, 0.9))
    if known.est_duration_s is not None:
        return _whole(known.est_duration_s), _whole(known.est_duration_s * MARGIN_OF_ESTIMATE)
    return None


def _whole(seconds: float) -> float:
    return float(max(ceil(round(seconds, 6)), 1))


def _watts(known: Known) -> tuple[Method, float] | None:
    measured = [run.energy_wh * HOUR_S / run.duration_s for run in known.runs if run.energy_wh is not None]
    if measured:
        return "history", _quantile(measured, 0.5)
    if known.prior_w is not None:
        return "bench_prior", known.prior_w
    return ("nameplate", known.nameplate_w) if known.nameplate_w is not None else None


def _quantile(values: Sequence[float], share: float) -> float:
    """Return the quantile of values that are newest first and weigh more; of few, 1.1 x the largest."""
    if len(values) < FEW_RUNS:
        return max(values) * MARGIN_OF_FEW
    weighted = sorted((value, 0.5 ** (age / HALF_LIFE_RUNS)) for age, value in enumerate(values))
    limit = share * fsum(weight for _, weight in weighted)
    passed = 0.0
    for value, weight in weighted:
        passed += weight
        if passed >= limit - 1e-12:
            return value
    return weighted[-1][0]


def _shape(runs: Sequence[PastRun]) -> tuple[float, ...]:
    """The median relative power in each share of the run, over the runs that have one."""
    shapes = [run.shape for run in runs if run.shape]
    if not shapes:
        return ()
    medians = [sorted(column)[len(column) // 2] for column in zip(*shapes, strict=True)]
    mean = fsum(medians) / len(medians)
    return tuple(value / mean for value in medians) if mean > 0 else ()


def _profile(duration_s: float, mean_w: float, shape: tuple[float, ...]) -> Profile:
    """Steps of whole seconds whose energy is that of `mean_w` throughout; neighbours that are alike become one."""
    if not shape:
        return ((duration_s, mean_w),)
    edges = [round(duration_s * i / len(shape)) for i in range(len(shape) + 1)]
    steps: list[tuple[float, float]] = []
    for (begin, end), level in zip(pairwise(edges), shape, strict=True):
        if end > begin:
            _append(steps, float(end - begin), level)
    scale = mean_w * duration_s / fsum(seconds * level for seconds, level in steps)
    return tuple((seconds, level * scale) for seconds, level in steps)


def _append(steps: list[tuple[float, float]], seconds: float, level: float) -> None:
    if steps and abs(steps[-1][1] - level) <= ALIKE:
        before_s, before = steps.pop()
        level = (before_s * before + seconds * level) / (before_s + seconds)
        seconds += before_s
    steps.append((seconds, level))


def relative_shape(buckets_wh: Sequence[float | None], shares: int = SHARES) -> tuple[float, ...]:
    """Return a run's power over equal shares of its length, 1 = its mean; empty where a part was not sampled."""
    if not buckets_wh or any(wh is None for wh in buckets_wh):
        return ()
    energy = [wh for wh in buckets_wh if wh is not None]
    total = fsum(energy)
    if total <= 0:
        return ()
    per_share = len(energy) / shares
    sums = [_between(energy, i * per_share, (i + 1) * per_share) for i in range(shares)]
    return tuple(part / total * shares for part in sums)


def _between(energy: Sequence[float], begin: float, end: float) -> float:
    overlaps = (max(0.0, min(end, i + 1) - max(begin, i)) for i in range(len(energy)))
    return fsum(wh * part for wh, part in zip(energy, overlaps, strict=True))
