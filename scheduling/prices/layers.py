"""How new prices meet those that are stored: a version is added, nothing is overwritten."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from scheduling.prices.types import SpotPoint


@dataclass(frozen=True, slots=True)
class Change:
    """`superseded` go out of force; `remainders` are the parts of them that nothing new covers; `new` come in."""

    superseded: tuple[SpotPoint, ...]
    remainders: tuple[SpotPoint, ...]
    new: tuple[SpotPoint, ...]


def change(stored: Sequence[SpotPoint], published: Sequence[SpotPoint]) -> Change:
    """Return what storing `published` over `stored` does; both in order, each without overlap.

    Known prices change nothing, in whatever steps they are published again.
    """
    new = [point for point in published if not _is_known(point, stored)]
    superseded = [old for old in stored if touching(new, old)]
    remainders = [part for old in superseded for part in without(old, new)]
    return Change(tuple(superseded), tuple(remainders), tuple(new))


def touching(points: Sequence[SpotPoint], span: SpotPoint) -> Sequence[SpotPoint]:
    """Return those of `points` (in order, without overlap) that share time with `span`."""
    first = bisect_right(points, span.start, key=lambda point: point.end)
    last = bisect_left(points, span.end, key=lambda point: point.start)
    return points[first:last]


def _is_known(point: SpotPoint, stored: Sequence[SpotPoint]) -> bool:
    """Whether the stored points already say the same for all of the point's time, in whatever steps."""
    covering = touching(stored, point)
    return all(old.price_per_kwh == point.price_per_kwh for old in covering) and not without(point, covering)


def without(point: SpotPoint, others: Sequence[SpotPoint]) -> list[SpotPoint]:
    """Return the parts of a point that none of `others` covers."""
    parts: list[SpotPoint] = []
    begin: datetime = point.start
    for other in touching(others, point):
        if other.start > begin:
            parts.append(SpotPoint(begin, other.start, point.price_per_kwh))
        begin = max(begin, other.end)
    return [*parts, SpotPoint(begin, point.end, point.price_per_kwh)] if begin < point.end else parts


def underneath(lower: Sequence[SpotPoint], upper: Sequence[SpotPoint]) -> list[SpotPoint]:
    """Return what is left of `lower` where `upper` has nothing: forecasts under published prices."""
    return [part for point in lower for part in without(point, upper)]
