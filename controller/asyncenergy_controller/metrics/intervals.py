"""How sure a figure is: Wilson for accuracy, bootstrap for joules per correct answer."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import hypot, sqrt

import numpy as np
import numpy.typing as npt

from .columns import Array, Numbers, require_same_length, to_array

Pairs = npt.NDArray[np.complex128]
Picks = npt.NDArray[np.integer]

Z_95 = 1.959963984540054
MIN_BOOTSTRAP_ITEMS = 10
MAX_SHARE_WITHOUT_CORRECT = 0.05
BETWEEN_MACHINES_GAIN = 0.05
_PICKED_AT_ONCE = 1 << 14  # picks gathered per chunk: these and the table stay in the processor's cache
_MAX_TABLED_ITEMS = 400


def wilson_interval(n_correct: float, n: int) -> tuple[float, float]:
    """Wilson 95 % interval of a share, 0..1. `n_correct` may be a sum of part scores.

    Raises ValueError for n = 0 and for n_correct outside 0..n.
    """
    if not n > 0:
        raise ValueError(f"an interval needs at least one item, got n = {n}")
    if not 0 <= n_correct <= n:
        raise ValueError(f"n_correct must be 0..{n}, got {n_correct}")
    share, z2 = n_correct / n, Z_95**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z_95 * sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # At both ends the bound is the share itself; rounding must not leave it outside.
    return max(0.0, min(centre - half, share)), min(1.0, max(centre + half, share))


def bootstrap_jpc_interval(
    item_energy_j: Numbers, correct: Numbers, total_j: float | None, *, seed: int, draws: int = 10_000
) -> tuple[float, float] | None:
    """95 % percentile bootstrap of joules per correct answer over the items that have both energy and score.

    Energy and score are drawn together; each item carries its own energy and an equal part of what fell between
    items (total_j - sum). A draw divides by its rounded score, as the headline does. None without a total, under
    10 items, or if over 5 % of the draws have no correct answer.
    """
    energy, score = to_array(item_energy_j, "item_energy_j"), to_array(correct, "correct")
    require_same_length(item_energy_j=energy, correct=score)
    if draws < 1:
        raise ValueError(f"draws must be at least 1, got {draws}")
    paired = ~(np.isnan(energy) | np.isnan(score))
    energy, score = energy[paired], score[paired]
    if total_j is None or np.isnan(total_j) or energy.size < MIN_BOOTSTRAP_ITEMS:
        return None
    energy = energy + (total_j - energy.sum()) / energy.size
    drawn_j, drawn_score = _draw_sums(energy, score, seed, draws)
    n_correct = np.rint(drawn_score)
    some = n_correct > 0
    if 1 - some.mean() > MAX_SHARE_WITHOUT_CORRECT:
        return None
    low, high = np.percentile(drawn_j[some] / n_correct[some], (2.5, 97.5)).tolist()
    return low, high


def widen_between_machines(
    value: float, low: float, high: float, gain: float = BETWEEN_MACHINES_GAIN
) -> tuple[float, float]:
    """The interval with a board's gain error (share of the value) added in quadrature at both ends."""
    return value - hypot(value - low, gain * value), value + hypot(high - value, gain * value)


def _draw_sums(energy: Array, score: Array, seed: int, draws: int) -> tuple[Array, Array]:
    """Sums of energy and of score over `draws` resamples of all items."""
    # One complex number holds an item's energy and score, so that one gather draws both.
    items: Pairs = energy + 1j * score
    if items.size > _MAX_TABLED_ITEMS:
        sums = _gather_sums(items, _pick_chunks(items.size, items.size, np.random.default_rng(seed), draws))
    else:
        # Two independent picks are one pick from all ordered twosomes, for half the work.
        twosomes, odd = _tabled_picks(items.size, seed, draws)
        sums = _gather_sums(np.add.outer(items, items).ravel(), twosomes) + _gather_sums(items, odd)
    return sums.real, sums.imag


@lru_cache(maxsize=4)
def _tabled_picks(n: int, seed: int, draws: int) -> tuple[tuple[Picks, ...], tuple[Picks, ...]]:
    """Which twosomes and, of an odd number of items, which single ones: the same for all runs of so many items."""
    rng = np.random.default_rng(seed)
    return tuple(_pick_chunks(n * n, n // 2, rng, draws)), tuple(_pick_chunks(n, n % 2, rng, draws))


def _pick_chunks(size: int, picks: int, rng: np.random.Generator, draws: int) -> Iterator[Picks]:
    """For each draw, one a column, so many picks from 0..size-1 with replacement; a chunk of draws at a time."""
    step = max(1, _PICKED_AT_ONCE // max(1, picks))
    for first in range(0, draws, step):
        yield np.ascontiguousarray(rng.integers(0, size, size=(min(step, draws - first), picks)).T)


def _gather_sums(table: Pairs, chunks: Iterable[Picks]) -> Pairs:
    """For each draw the sum of the picked entries."""
    sums: Pairs = np.concatenate([table[chunk].sum(axis=0) for chunk in chunks])
    return sums
