"""Against another solver: what we call proved, CP-SAT can't beat on the same grid."""

import random

import pytest

from benchmarks.optimizer_rivals import cp_sat
from scheduling.optimizer import Job, PricePoint
from tests.scheduling.planning import job, prices, sound_plan


def crowd(seed: int) -> tuple[list[PricePoint], list[Job], tuple[str, ...], float | None]:
    """Seven to twelve jobs of half hours within eight hours, on one to three machines."""
    draw = random.Random(seed)
    machines = draw.choice([("a",), ("a", "b"), ("a", "b", "c")])
    limit = draw.choice([None, 700.0]) if len(machines) > 1 else None
    jobs = []
    for n in range(draw.randrange(7, 13)):
        length, opens = 30 * draw.randrange(1, 3 + len(machines)), 30 * draw.randrange(0, 9)
        closes = min(480, opens + length + 30 * draw.randrange(2, 12))
        watts = float(draw.randrange(100, 450))
        more = {"interruptible": draw.random() < 0.2}
        jobs.append(job(f"j{n:02}", length, min(opens, closes - length), closes, watts, **more))
    return prices([draw.randrange(-50, 400) / 1000 for _ in range(8)]), jobs, machines, limit


def check_seed(seed: int) -> None:
    points, jobs, machines, limit = crowd(seed)
    made = sound_plan(points, jobs, capacity=dict.fromkeys(machines, 1), watt_limit=limit, time_limit_s=20)
    if made.infeasible:
        return
    rival = cp_sat(points, jobs, machines, limit, seconds=3)
    assert rival.bound is not None
    assert made.lower_bound <= made.cost
    if made.proved and rival.cost is not None:
        assert made.cost <= rival.cost + 1e-6
    if rival.proved and rival.cost is not None:
        assert made.lower_bound <= rival.cost + 1e-6


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(3))
def test_what_is_proved_is_not_beaten_by_another_solver(seed):
    check_seed(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 120))
def test_what_is_proved_is_not_beaten_by_another_solver_often(seed):
    check_seed(seed)
