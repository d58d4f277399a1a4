"""How far the wall plug's clock lags behind the GPU's: found by the edges of the load that both have seen."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STEP_S = 0.1
MAX_SKEW_S = 10.0
BEYOND_S = 2.0
"""Looked at as well: a match that is best there has its true place outside."""
MIN_SWING_W = 20.0
MIN_MATCH = 0.8
MIN_SAMPLES = 10
AS_GOOD = 2.0
"""A match that leaves at most so many times as much unexplained as the best one may be the true one too..."""
FALL = 0.1
"""...and with such a fall in between it is another place."""

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
    swings by less than 20 W), `no_match` (the wall follows the GPU at no such skew), `ambiguous` (at several: the load
    repeats itself).
    """
    gpu_t, gpu_w = _present(t_s, gpu_power_w)
    wall_t, wall = _present(t_s, wall_w)
    if min(len(gpu_t), len(wall_t)) < MIN_SAMPLES:
        return Alignment(None, reason="too_few_samples")
    if np.ptp(np.percentile(gpu_w, (5, 95))) < MIN_SWING_W:
        return Alignment(None, reason="no_edges")
    farthest_s = MAX_SKEW_S + BEYOND_S
    skews = np.arange(-farthest_s, farthest_s + STEP_S / 2, STEP_S)
    matches = np.array([_match(gpu_t, gpu_w, wall_t - skew, wall) for skew in skews])
    best = int(np.argmax(matches))
    match, skew_s = float(matches[best]), _vertex(skews, matches, best)
    if match < MIN_MATCH or abs(skew_s) > MAX_SKEW_S:
        return Alignment(None, match=match, reason="no_match")
    if _places(matches) > 1:
        return Alignment(None, match=match, reason="ambiguous")
    return Alignment(skew_s, match=match)


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


def _places(matches: Floats) -> int:
    """How many times the match comes up to its best, with a fall in between."""
    good = 1 - AS_GOOD * (1 - matches.max())
    places, has_fallen = 0, True
    for match in matches:
        if has_fallen and match >= good:
            places, has_fallen = places + 1, False
        has_fallen = has_fallen or match < good - FALL
    return places


def _vertex(skews: Floats, matches: Floats, best: int) -> float:
    """Return the top of the parabola through the best skew and its neighbours."""
    if not 0 < best < len(skews) - 1:
        return float(skews[best])
    before, top, after = matches[best - 1 : best + 2]
    bend = before - 2 * top + after
    shift = 0.0 if bend == 0 else 0.5 * (before - after) / bend
    return float(skews[best] + shift * STEP_S)
