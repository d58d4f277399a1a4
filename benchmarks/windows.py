"""What a window is worth: a job at its best start against starting at once, on every recorded day. Perfect prices.

python -m benchmarks windows
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from benchmarks.real_prices import PRAGUE, czech_days
from scheduling.humantime import at_wall
from scheduling.optimizer import Job, PricePoint, plan

WATTS = 350.0
RUN_S = 4 * 3600.0


@dataclass(frozen=True, slots=True)
class Case:
    """`opens` is an hour of the local day, `fees` stand in EUR per kWh on top of each price."""

    words: str
    opens: int
    hours: int
    fees: float = 0.0


CASES = (
    Case("20:00 to 07:00", 20, 11),
    Case("20:00 to 07:00, 15 ct/kWh of flat fees", 20, 11, 0.15),
    Case("24 h from 08:00", 8, 24),
)


def main() -> None:
    for case in CASES:
        pairs = list(_costs(case))
        at_once, best = (sum(column) for column in zip(*pairs, strict=True))
        share, night = 100 * (at_once - best) / at_once, 100 * (at_once - best) / len(pairs)
        print(f"4 h at {WATTS:g} W, {case.words}: {share:.1f} % less, {night:.1f} ct a run, {len(pairs)} days")


def _costs(case: Case) -> Iterator[tuple[float, float]]:
    """Begun at once, and at the best start, on each day whose whole window has prices."""
    days = czech_days()
    points = {point.start: point for day in days.values() for point in day}
    for day in sorted(days):
        opens = at_wall(datetime.combine(datetime.fromisoformat(day), time(case.opens)), PRAGUE, edge="start")
        quarters = [opens + timedelta(minutes=15 * n) for n in range(4 * case.hours)]
        if all(quarter in points for quarter in quarters):
            paid = [_paid(points[quarter], case.fees) for quarter in quarters]
            made = plan(paid, [Job("job", RUN_S, WATTS, opens, paid[-1].end)], now=opens)
            yield made.baseline_cost, made.cost


def _paid(point: PricePoint, fees: float) -> PricePoint:
    return PricePoint(point.start, point.end, point.price_per_kwh + fees)
