"""The optimizer beside three others on real day-ahead prices, in one run: cost, gap and time.

    python -m benchmarks.optimizer [--days N] [--seconds LIMIT] [--only NAME]

Ours, everything at its earliest start, greedy (one job after another at its cheapest free start of a 5-minute grid) and
OR-Tools CP-SAT on the same grid, with the same jobs. Seconds are on the wall, and of the CPU, which a busy machine does
not stretch. Ours are checked by `verify`. The prices are the recorded ones of ../shared/data/prices; without them it
says so and stops.
"""

import argparse
import random
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from benchmarks.optimizer_rivals import Answer, Clock, cp_sat, earliest, greedy
from benchmarks.real_prices import DAYS, PRICES, horizon
from scheduling.optimizer import Job, PricePoint, plan, verify

MINUTE = 60


@dataclass(frozen=True)
class Case:
    """A kind of instance. `load`: total run time as a share of the horizon."""

    name: str
    jobs: int
    hours: int
    unit_min: int
    load: float
    machines: tuple[str, ...] = ("box",)
    watt_limit: float | None = None
    interruptible: bool = False
    target: str = ""


CASES = (
    Case("10 jobs, 24 h", 10, 24, 5, 0.6, target="median under 0.2 s, proved"),
    Case("40 jobs, 48 h of quarter hours", 40, 48, 15, 0.6, target="median under 2 s"),
    Case("12 jobs, 3 machines, one watt limit", 12, 24, 5, 1.5, ("a", "b", "c"), 700.0, target="within 20 s"),
    Case("10 jobs, half interruptible", 10, 24, 5, 0.6, interruptible=True, target="within 20 s"),
)


def jobs_of(case: Case, day: int, prices: Sequence[PricePoint]) -> list[Job]:
    """Return jobs of uneven lengths and powers in windows of uneven widths; some may start at once."""
    draw = random.Random(day)  # noqa: S311 - an instance, not a secret
    horizon_min, mean = case.hours * 60, case.hours * 60 * case.load / case.jobs
    return [_job(case, draw, number, mean, horizon_min, prices) for number in range(case.jobs)]


def _job(
    case: Case, draw: random.Random, number: int, mean_min: float, horizon_min: int, prices: Sequence[PricePoint]
) -> Job:
    unit, now = case.unit_min, prices[0].start
    duration = max(unit, round(draw.uniform(0.4, 1.6) * mean_min / unit) * unit)
    opens = round(draw.uniform(0, horizon_min - duration) * 0.7 / unit) * unit if draw.random() < 0.6 else 0
    closes = min(horizon_min, opens + duration + round(draw.uniform(0.15, 1) * horizon_min / unit) * unit)
    return Job(
        id=f"job-{number:02}",
        duration_s=duration * MINUTE,
        power_w=float(draw.randrange(150, 450)),
        earliest_start=now + timedelta(minutes=opens),
        deadline=now + timedelta(minutes=closes),
        interruptible=case.interruptible and number % 2 == 1,
    )


def ours(case: Case, prices: Sequence[PricePoint], jobs: Sequence[Job], seconds: float) -> Answer:
    capacity, now = dict.fromkeys(case.machines, 1), prices[0].start
    clock = Clock()
    made = plan(prices, jobs, now=now, capacity=capacity, watt_limit=case.watt_limit, time_limit_s=seconds)
    wall, cpu = clock.read()
    wrong = verify(made, prices, jobs, now=now, capacity=capacity, watt_limit=case.watt_limit)
    if wrong:
        raise SystemExit(f"{case.name}: {wrong}")
    return Answer(None if made.infeasible else made.cost, made.lower_bound, made.proved, wall, cpu)


def _rows(case: Case, days: Sequence[str], seconds: float) -> dict[str, list[Answer]]:
    ways: dict[str, Callable[[Sequence[PricePoint], Sequence[Job]], Answer]] = {
        "ours": lambda prices, jobs: ours(case, prices, jobs, seconds),
        "earliest start": lambda prices, jobs: earliest(prices, jobs, case.machines, case.watt_limit),
        "greedy": lambda prices, jobs: greedy(prices, jobs, case.machines, case.watt_limit),
        "CP-SAT": lambda prices, jobs: cp_sat(prices, jobs, case.machines, case.watt_limit, seconds),
    }
    rows: dict[str, list[Answer]] = {name: [] for name in ways}
    for number, day in enumerate(days):
        prices = horizon(day, case.hours)
        jobs = jobs_of(case, number, prices)
        for name, way in ways.items():
            rows[name].append(way(prices, jobs))
    return rows


HEAD = ("", "plans", "EUR", "x ours", "gap ct", "max", "proved", "median s", "max s", "cpu s")
WIDTHS = (-15, 7, 10, 8, 8, 8, 6, 9, 9, 9)


def _line(name: str, answers: Sequence[Answer], best: Sequence[Answer]) -> list[str]:
    """One row of the table; money is compared on the days on which both have a plan."""
    both = [(a.cost, b.cost) for a, b in zip(answers, best, strict=True) if a.cost is not None and b.cost is not None]
    cost, ours_cost = sum(a for a, _ in both), sum(b for _, b in both)
    gaps = [100 * (a.cost - a.bound) for a in answers if a.cost is not None and a.bound is not None]
    seconds = [answer.seconds for answer in answers]
    return [
        name,
        f"{len(both)}/{len(answers)}",
        f"{cost:.5f}",
        f"{cost / ours_cost:.4f}" if ours_cost else "-",
        f"{statistics.median(gaps):.3f}" if gaps else "-",
        f"{max(gaps):.3f}" if gaps else "-",
        str(sum(answer.proved for answer in answers)),
        f"{statistics.median(seconds):.3f}",
        f"{max(seconds):.3f}",
        f"{statistics.median(answer.cpu_seconds for answer in answers):.3f}",
    ]


def _print_row(cells: Sequence[str]) -> None:
    pairs = zip(cells, WIDTHS, strict=True)
    print(" ".join(cell.ljust(-width) if width < 0 else cell.rjust(width) for cell, width in pairs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=5, help="days of prices for each case")
    parser.add_argument("--seconds", type=float, default=19.0, help="limit of one search; the proof comes after it")
    parser.add_argument("--only", default="", help="run the cases whose name contains this")
    given = parser.parse_args()
    if not PRICES.is_dir():
        sys.exit("skipped: the recorded prices are not beside this checkout (../shared/data/prices)")
    for case in CASES:
        if given.only in case.name:
            rows = _rows(case, DAYS[: given.days], given.seconds)
            print(f"\n{case.name}  (aim: {case.target})")
            _print_row(HEAD)
            for name, answers in rows.items():
                _print_row(_line(name, answers, rows["ours"]))


if __name__ == "__main__":
    main()
