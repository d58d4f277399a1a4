"""How often a driver's value moves, inferred from readings much faster than it."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

MIN_CHANGES = 5


def update_period_s(t_s: Sequence[float], values: Sequence[float | None]) -> float | None:
    """Return the median time between two changes of `values`; None where fewer than six changes were seen.

    The readings must be several times faster than the value moves, else the reading's own pace comes out.
    """
    known = [(t, value) for t, value in zip(t_s, values, strict=True) if value is not None]
    changes = [after[0] for before, after in pairwise(known) if before[1] != after[1]]
    gaps = [after - before for before, after in pairwise(changes)]
    return median(gaps) if len(gaps) >= MIN_CHANGES else None
