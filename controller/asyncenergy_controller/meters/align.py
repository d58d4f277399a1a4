"""How far the wall plug's clock lags behind the GPU's: found by the edges of the load that both have seen."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STEP_S = 0.1
MAX_SKEW_S = 10.0
MIN_SWING_W = 20.0
MIN_MATCH = 0.8
MIN_SAMPLES = 10

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Alignment:
    """`skew_s` > 0: the wall shows an edge that much later than the GPU. None with a reason where it cannot be told."""

    skew_s: float | None
    match: float | None = None
    """Correlation of the two powers at that skew."""
    reason: str | None = None


def align_wall(t_s: Sequence[float], gpu_power_w: Sequence[float | None], wall_w: Sequence[float | None]) -> Alignment:
    """Find the skew of up to 10 s at which the wall's power follows the GPU's best, to half of the wall's period.

    The three columns are one trace's; None is a missing sample. Reasons: `too_few_samples`, `no_edges` (the GPU's power
    swings by less than 20 W), `no_match` (the wall follows the GPU at no skew).
    """
    gpu_t, gpu_w = _present(t_s, gpu_power_w)
    wall_t, wall = _present(t_s, wall_w)
    if min(len(gpu_t), len(wall_t)) < MIN_SAMPLES:
        return Alignment(None, reason="too_few_samples")
    if np.ptp(np.percentile(gpu_w, (5, 95))) < MIN_SWING_W:
        return Alignment(None, reason="no_edges")
    skews = np.arange(-MAX_SKEW_S, MAX_SKEW_S + STEP_S / 2, STEP_S)
    matches = np.array([_match(gpu_t, gpu_w, wall_t - skew, wall) for skew in skews])
    best = int(np.argmax(matches))
    if matches[best] < MIN_MATCH:
        return Alignment(None, match=float(matches[best]), reason="no_match")
    return Alignment(_vertex(skews, matches, best), match=float(matches[best]))


def _present(t_s: Sequence[float], values: Sequence[float | None]) -> tuple[Floats, Floats]:
    pairs = [(t, value) for t, value in zip(t_s, values, strict=True) if value is not None]
    table = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _match(gpu_t: Floats, gpu_w: Floats, wall_t: Floats, wall_w: Floats) -> float:
    """Correlate the wall's samples with the GPU's power at the same moments, where the GPU was sampled."""
    inside = (wall_t >= gpu_t[0]) & (wall_t <= gpu_t[-1])
    if inside.sum() < MIN_SAMPLES:
        return -1.0
    gpu = np.interp(wall_t[inside], gpu_t, gpu_w)
    if np.ptp(gpu) == 0 or np.ptp(wall_w[inside]) == 0:
        return -1.0
    return float(np.corrcoef(gpu, wall_w[inside])[0, 1])


def _vertex(skews: Floats, matches: Floats, best: int) -> float:
    """Return the top of the parabola through the best skew and its neighbours."""
    if not 0 < best < len(skews) - 1:
        return float(skews[best])
    before, top, after = matches[best - 1 : best + 2]
    bend = before - 2 * top + after
    shift = 0.0 if bend == 0 else 0.5 * (before - after) / bend
    return float(skews[best] + shift * STEP_S)
