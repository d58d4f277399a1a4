"""Recorded day-ahead prices, clock changes and missing days among them."""

import json
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from benchmarks.real_prices import czech_days
from scheduling.optimizer import Job, Plan, PricePoint, plan, random_start_mean, verify
from tests.scheduling.test_optimizer_certificate import check_of, documented

PRAGUE = ZoneInfo("Europe/Prague")


def at(day: date, hour: int) -> datetime:
    return datetime(day.year, day.month, day.day, hour, tzinfo=PRAGUE)


def three_jobs(day: date) -> list[Job]:
    """One from 20 to 7, one from 8 to 8, one within twelve hours."""
    morrow = day + timedelta(days=1)
    return [
        Job("night", 4 * 3600, 350.0, at(day, 20), at(morrow, 7)),
        Job("round", 2 * 3600, ((1800, 100.0), (5400, 400.0)), at(day, 8), at(morrow, 8)),
        Job("noon", 3600, 300.0, at(day, 12), at(morrow, 0), interruptible=True),
    ]


def prices_of(day: date) -> list[PricePoint]:
    days = czech_days()
    return [p for n in (0, 1) for p in days.get((day + timedelta(days=n)).isoformat(), ())]


def replayed(day: date) -> tuple[Plan, Sequence[PricePoint], list[Job]]:
    points, jobs = prices_of(day), three_jobs(day)
    made = plan(points, jobs, now=at(day, 8))
    assert verify(made, points, jobs, now=at(day, 8)) == []
    check = check_of(documented())
    assert check(json.loads(json.dumps(made.certificate))) == pytest.approx(made.lower_bound, abs=1e-9)
    return made, points, jobs


@pytest.mark.parametrize("day", ["2025-10-25", "2025-12-24", "2026-03-28", "2026-05-01", "2026-06-20"])
def test_three_jobs_on_a_real_day_are_proved_and_cheaper_than_at_once_or_at_random(day, shared_data: Path):
    made, points, jobs = replayed(date.fromisoformat(day))
    assert len(made.placements) == 3
    assert made.proved
    assert made.gap == pytest.approx(0, abs=0.002)
    assert made.cost < made.baseline_cost
    means = [random_start_mean(points, job, now=at(date.fromisoformat(day), 8)) for job in jobs]
    assert made.cost < sum(mean for mean in means if mean is not None)


def test_on_a_missing_day_only_known_hours_are_used(shared_data: Path):
    """2026-05-04 was never published: the night before ends at midnight, and nothing runs beyond it."""
    made, points, _ = replayed(date(2026, 5, 3))
    assert max(p.end for p in made.placements) <= points[-1].end
    assert not made.infeasible


@pytest.mark.slow
def test_all_recorded_days(shared_data: Path):
    days = [date.fromisoformat(day) for day in czech_days()]
    plans = [replayed(day)[0] for day in days]
    assert len(plans) == 321
    assert all(made.proved for made in plans)
    assert sum(made.cost for made in plans) < 0.8 * sum(made.baseline_cost for made in plans)
