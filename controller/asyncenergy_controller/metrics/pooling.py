"""How runs become rows: the median machine, accuracy over distinct items, shared ranks, the Pareto front."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .intervals import wilson_interval


@dataclass(frozen=True, slots=True)
class PooledAccuracy:
    """Mean over distinct items of the item's mean score, 0..1, with Wilson's interval for that many items."""

    accuracy: float
    low: float
    high: float
    n_items: int


@dataclass(frozen=True, slots=True)
class Standing:
    """A row's shown value and its interval, each None where there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None


def median_index(values: Sequence[float]) -> int:
    """Where the median stands in `values`: index n // 2 of the ascending list, of two the worse (higher)."""
    if not values:
        raise ValueError("no median of nothing: values is empty")
    return sorted(range(len(values)), key=values.__getitem__)[len(values) // 2]


def pooled_accuracy(scored_items: Iterable[tuple[int, float]]) -> PooledAccuracy | None:
    """Pool (item index, score) over machines and repeats: the same item again is no new evidence. None without any."""
    scores: defaultdict[int, list[float]] = defaultdict(list)
    for index, score in scored_items:
        scores[index].append(score)
    if not scores:
        return None
    n = len(scores)
    total = sum(sum(of_item) / len(of_item) for of_item in scores.values())
    low, high = wilson_interval(min(total, n), n)
    return PooledAccuracy(total / n, low, high, n)


def shared_ranks(standings: Sequence[Standing], *, descending: bool = False) -> list[int | None]:
    """Ranks in the order given. Sorted by the shown value, a row joins while its interval overlaps the leader's of
    its group, else it leads the next; rank = 1 + rows before the group. Without value or interval: no rank."""
    ranked = [i for i, row in enumerate(standings) if None not in (row.value, row.low, row.high)]
    ranked.sort(key=lambda i: standings[i].value or 0.0, reverse=descending)
    ranks: list[int | None] = [None] * len(standings)
    leader, rank = None, 0
    for before, i in enumerate(ranked):
        if leader is None or not overlap(standings[leader], standings[i]):
            leader, rank = i, before + 1
        ranks[i] = rank
    return ranks


def overlap(one: Standing, other: Standing) -> bool:
    """Whether two intervals share a point; False where one has none."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return False
    return one.low <= other.high and other.low <= one.high


def pareto_front(costs: Sequence[float | None], benefits: Sequence[float | None]) -> list[bool]:
    """Which rows no other beats: none costs as little and gives as much, and is better in one of the two."""
    known = [
        (c, -b, i) for i, (c, b) in enumerate(zip(costs, benefits, strict=True)) if c is not None and b is not None
    ]
    front, members = [False] * len(costs), sorted(known)
    best: tuple[float, float] | None = None
    for cost, loss, i in members:
        if best is None or loss < best[1] or (cost, loss) == best:
            best, front[i] = (cost, loss), True
    return front


def efficiency_index(reference_jpc: float | None, jpc: float | None) -> float | None:
    """J per correct answer of the reference configuration on the same machine over this one's; above 1 is better."""
    return None if reference_jpc is None or not jpc else reference_jpc / jpc
