"""Every plan with one-minute starts, tried."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from scheduling.optimizer import Job, PricePoint
from tests.scheduling.planning import NOON, minute

Way = tuple[str, int, int, float, float]
"""machine, first minute, minute after the last, watts, cost"""


def best_by_trying(
    points: Sequence[PricePoint],
    jobs: Sequence[Job],
    machines: Sequence[str] = ("",),
    capacity: int = 1,
    watt_limit: float | None = None,
) -> tuple[list[int], float]:
    """Return how many jobs of each priority can't be placed, the highest first, and the least cost of the others."""
    levels = sorted({job.priority for job in jobs}, reverse=True)
    ways = [sorted(_ways(points, job, machines), key=lambda way: way[4]) for job in jobs]
    best: tuple[list[int], float] = ([len(jobs)] * len(levels), 0.0)

    def go(index: int, taken: list[Way], out: list[int], cost: float) -> None:
        nonlocal best
        if out > best[0]:
            return
        if index == len(jobs):
            best = min(best, (list(out), cost))
            return
        rest = sum(way[0][4] for way in ways[index:] if way)
        for way in ways[index]:
            slack = way[4] - ways[index][0][4]
            if out == best[0] and min(cost + rest + slack, cost + way[4]) >= best[1] and _all_positive(ways):
                break
            if _fits(way, taken, capacity, watt_limit):
                go(index + 1, [*taken, way], out, cost + way[4])
        level = levels.index(jobs[index].priority)
        go(index + 1, taken, [n + (i == level) for i, n in enumerate(out)], cost)

    go(0, [], [0] * len(levels), 0.0)
    return best


def _all_positive(ways: Sequence[Sequence[Way]]) -> bool:
    return all(way[0][4] >= 0 for way in ways if way)


def _ways(points: Sequence[PricePoint], job: Job, machines: Sequence[str]) -> Iterator[Way]:
    length = round(job.duration_s / 60)
    opens, closes = ((t - NOON) // timedelta(minutes=1) for t in (job.earliest_start, job.deadline))
    price = {m: p.price_per_kwh for p in points for m in range(opens, closes) if p.start <= minute(m) < p.end}
    for start in range(opens, closes - length + 1):
        run = [price[m] for m in range(start, start + length) if m in price]
        if len(run) == length:
            watts = float(job.power_w)  # type: ignore[arg-type]  # constant power here
            cost = sum(run) * watts / 60000
            for machine in (job.machine,) if job.machine else machines:
                yield machine, start, start + length, watts, cost


def _fits(way: Way, taken: Sequence[Way], capacity: int, watt_limit: float | None) -> bool:
    machine, start, end, watts, _ = way
    together = [other for other in taken if other[1] < end and other[2] > start]
    instants = [start, *(other[1] for other in together if other[1] > start)]
    here = max(sum(o[0] == machine and o[1] <= t < o[2] for o in together) for t in instants)
    drawn = max(watts + sum(o[3] for o in together if o[1] <= t < o[2]) for t in instants)
    return here < capacity and (watt_limit is None or drawn <= watt_limit + 1e-9)
