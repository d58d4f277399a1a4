"""Clock changes move nothing, and a plan is the same wherever and whenever it is made."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from scheduling.optimizer import Job, PricePoint, plan, verify
from tests.scheduling.planning import job, minute, prices, sound_plan
from tests.scheduling.zones import clock_changes, every_zone, one_zone_of_each_kind

ROOT = Path(__file__).resolve().parents[2]
HELSINKI = ZoneInfo("Europe/Helsinki")
STOCKHOLM = ZoneInfo("Europe/Stockholm")


def local_day(zone: ZoneInfo, year: int, month: int, day: int) -> tuple[datetime, datetime]:
    """Local midnight and the next, in UTC; a day added to an aware time is a day on the wall."""
    first = datetime(year, month, day, tzinfo=zone)
    return first.astimezone(UTC), (first + timedelta(days=1)).astimezone(UTC)


def points_between(
    begin: datetime, end: datetime, values=lambda n: 0.1 + n % 7 / 100, step: int = 15
) -> list[PricePoint]:
    many = int((end - begin) / timedelta(minutes=step))
    edges = [begin + timedelta(minutes=step * n) for n in range(many + 1)]
    return [PricePoint(a, b, values(n)) for n, (a, b) in enumerate(zip(edges, edges[1:], strict=False))]


@pytest.mark.parametrize(("month", "day", "hours"), [(10, 25, 25), (3, 29, 23), (6, 10, 24)])
def test_a_day_has_as_many_hours_as_pass(month, day, hours):
    midnight, following = local_day(HELSINKI, 2026, month, day)
    points = points_between(midnight, following)
    assert len(points) == hours * 4
    assert sum((p.end - p.start).total_seconds() for p in points) == hours * 3600
    whole = Job("j", hours * 3600, 100.0, midnight, following)
    made = plan(points, [whole], now=midnight)
    assert made.placements[0].start == midnight
    assert plan(points, [Job("j", hours * 3600 + 1, 100.0, midnight, following)], now=midnight).infeasible


def test_the_repeated_hour_is_two_hours():
    """03:00+03:00 is dear, 03:00+02:00 is cheap: the job runs in the second."""
    begin = datetime(2025, 10, 26, 0, 0, tzinfo=HELSINKI).astimezone(UTC)
    points = points_between(begin, begin + timedelta(hours=6), lambda n: 0.05 if n == 4 else 0.3, step=60)
    made = plan(points, [Job("j", 3600, 100.0, begin, begin + timedelta(hours=6))], now=begin)
    assert made.placements[0].start.astimezone(HELSINKI).isoformat() == "2025-10-26T03:00:00+02:00"


def test_twelve_hours_pass_between_20_and_7_on_the_night_of_the_change():
    opens, closes = datetime(2026, 10, 24, 20, tzinfo=STOCKHOLM), datetime(2026, 10, 25, 7, tzinfo=STOCKHOLM)
    assert closes - opens == timedelta(hours=11)
    points = points_between(opens.astimezone(UTC), closes.astimezone(UTC))
    assert not plan(points, [Job("j", 12 * 3600, 100.0, opens, closes)], now=opens).infeasible
    assert plan(points, [Job("j", 12 * 3600 + 60, 100.0, opens, closes)], now=opens).infeasible


@pytest.mark.parametrize("now", ["2024-03-30T12:00", "2026-10-24T12:00"])
def test_36_hours_planned_the_day_before_the_change(now):
    begin = datetime.fromisoformat(now).replace(tzinfo=STOCKHOLM)
    points = points_between(begin.astimezone(UTC), begin.astimezone(UTC) + timedelta(hours=36))
    until = (begin.astimezone(UTC) + timedelta(hours=36)).astimezone(STOCKHOLM)
    jobs = [Job(f"j{n}", 2 * 3600, 300.0, begin, until) for n in range(4)]
    made = plan(points, jobs, now=begin)
    assert verify(made, points, jobs, now=begin) == []
    assert len(made.placements) == 4


def check_zone_moves_nothing(name: str, changes: tuple[datetime, ...]) -> None:
    """The same question in local time gives, on every day of a clock change, the plan of the question in UTC."""
    zone = ZoneInfo(name)
    for change in changes:
        begin = change - timedelta(hours=6)
        points = points_between(begin, begin + timedelta(hours=12), lambda n: 0.3 - n % 9 / 40, step=30)
        jobs = [Job(f"j{n}", 4500 + 900 * n, 300.0, begin, begin + timedelta(hours=11)) for n in range(2)]
        local_points = [PricePoint(p.start.astimezone(zone), p.end.astimezone(zone), p.price_per_kwh) for p in points]
        local = [
            Job(j.id, j.duration_s, j.power_w, j.earliest_start.astimezone(zone), j.deadline.astimezone(zone))
            for j in jobs
        ]
        made = plan(local_points, local, now=begin.astimezone(zone))
        assert made == plan(points, jobs, now=begin)
        assert verify(made, local_points, local, now=begin.astimezone(zone)) == []
        assert sum(p.energy_wh for p in made.placements) == pytest.approx(300 * (4500 + 5400) / 3600)


@pytest.mark.parametrize("name", one_zone_of_each_kind())
def test_on_days_of_a_clock_change_of_each_kind_nothing_shifts(name):
    check_zone_moves_nothing(name, clock_changes(name)[:2])


@pytest.mark.slow
@pytest.mark.parametrize("name", every_zone())
def test_on_days_of_a_clock_change_in_every_zone_nothing_shifts(name):
    check_zone_moves_nothing(name, clock_changes(name))


SCRIPT = """
import json, random
from dataclasses import asdict
from tests.scheduling.planning import NOON, job, prices
from scheduling.optimizer import plan
draw = random.Random(7)
jobs = []
for n in range(7):
    length, opens = 5 * draw.randrange(4, 30), 5 * draw.randrange(0, 60)
    jobs.append(job(f"j{n}", length, opens, 1400, 300.0 + n, interruptible=n == 3))
made = plan(prices([round(draw.gauss(0.1, 0.05), 4) for _ in range(24)]), jobs, now=NOON, watt_limit=900.0, capacity=2)
print(json.dumps(asdict(made), default=str))
"""


def printed(zone: str, seed: str) -> str:
    env = {**os.environ, "TZ": zone, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=True, env=env, cwd=ROOT
    )
    return ran.stdout


@pytest.mark.campaign
def test_the_same_question_gives_the_same_plan_byte_for_byte_in_every_time_zone():
    assert printed("UTC", "1") == printed("America/Los_Angeles", "2")


def test_the_order_in_which_jobs_and_prices_come_does_not_matter():
    jobs = [job(n, 45 + i, 0, 600, 300.0) for i, n in enumerate("dacb")]
    points = prices([0.3, 0.1, 0.2, 0.1, 0.4, 0.2, 0.1, 0.2, 0.3, 0.3])
    assert sound_plan(points, jobs) == sound_plan(points[::-1], jobs[::-1])


def test_a_plan_starts_no_earlier_than_now():
    points = prices([0.1, 0.3, 0.2])
    assert sound_plan(points, [job("j", 60, 0, 180)], now=minute(30)).placements[0].start == minute(30)
    assert sound_plan(points, [job("j", 45, 0, 180)], now=minute(59)).placements[0].start >= minute(59)
