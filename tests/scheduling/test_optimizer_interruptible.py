"""Jobs that may be interrupted."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.optimizer.runs import cheapest_runs
from tests.scheduling.planning import job, pieces, prices, reasons, sound_plan

values = st.lists(st.one_of(st.none(), st.integers(-200, 600).map(lambda n: n / 1000)), min_size=6, max_size=24)


@settings(max_examples=60, deadline=None)
@given(values, st.integers(10, 400))
def test_without_a_price_on_interruptions_the_cheapest_minutes_are_taken(hourly, minutes):
    known = [value for value in hourly for _ in range(60) if value is not None]
    made = sound_plan(prices(hourly), [job("j", minutes, 0, 60 * len(hourly), interruptible=True)])
    if len(known) < minutes:
        assert made.infeasible
    else:
        assert made.cost == pytest.approx(sum(sorted(known)[:minutes]) / 60, abs=1e-9)
        assert made.lower_bound == pytest.approx(made.cost, abs=1e-9)


def test_what_a_restart_costs_decides_whether_there_is_one():
    """Seven lone quarter-hours, or one run through dearer ones: the restart energy says which."""
    quarters = [0.1, 0.13] * 7
    free = sound_plan(prices(quarters, 15), [job("j", 105, 0, 210, interruptible=True)])
    assert len(pieces(free, "j")) == 7
    dear = sound_plan(prices(quarters, 15), [job("j", 105, 0, 210, interruptible=True, restart_wh=100.0)])
    assert len(pieces(dear, "j")) == 1
    between = sound_plan(
        prices([0.1, 0.1, 0.5, 0.5, 0.1, 0.1], 15), [job("j", 60, 0, 90, interruptible=True, restart_wh=100.0)]
    )
    assert pieces(between, "j") == [(0, 30), (60, 90)]
    assert between.placements[0].energy_wh == pytest.approx(1100)
    assert between.cost == pytest.approx(0.1 + 0.01)


def test_a_restart_never_earns_in_a_negative_hour():
    points = prices([-0.1, 0.4, -0.1, 0.4, -0.1], 30)
    made = sound_plan(points, [job("j", 90, 0, 150, interruptible=True, restart_wh=500.0)])
    assert made.cost == pytest.approx(-0.15)
    assert made.lower_bound <= made.cost + 1e-9


def test_a_piece_lasts_at_least_the_minimum_run():
    quarters = [0.1, 0.5, 0.1, 0.5, 0.1, 0.5, 0.2, 0.2]
    made = sound_plan(prices(quarters, 15), [job("j", 45, 0, 120, interruptible=True, min_run_s=1800)])
    assert all(end - begin >= 30 for begin, end in pieces(made, "j"))


def test_a_minimum_run_longer_than_the_job_means_one_piece():
    made = sound_plan(prices([0.1, 0.5, 0.1], 15), [job("j", 30, 0, 45, interruptible=True, min_run_s=3600)])
    assert len(pieces(made, "j")) == 1


def runs_by_trying(costs: list[float], restarts: list[float], need: int, least: int) -> float:
    best = float("inf")
    for mask in range(1 << len(costs)):
        taken = [bool(mask >> i & 1) for i in range(len(costs))]
        begins = [i for i, on in enumerate(taken) if on and (i == 0 or not taken[i - 1])]
        ends = [i + 1 for i, on in enumerate(taken) if on and (i + 1 == len(costs) or not taken[i + 1])]
        if sum(taken) == need and all(b - a >= least for a, b in zip(begins, ends, strict=True)):
            money = sum(c for c, on in zip(costs, taken, strict=True) if on) + sum(restarts[i] for i in begins[1:])
            best = min(best, money)
    return best


@pytest.mark.parametrize("seed", range(40))
def test_dynamic_programming_finds_the_cheapest_runs(seed):
    import numpy as np

    draw = random.Random(seed)
    slots, least = draw.randrange(4, 11), draw.randrange(1, 4)
    need = draw.randrange(least, slots + 1)
    costs = [round(draw.uniform(-1, 3), 2) if draw.random() > 0.15 else float("inf") for _ in range(slots)]
    restarts = [round(draw.uniform(0, 1), 2) for _ in range(slots)]
    best = runs_by_trying(costs, restarts, need, least)
    found = cheapest_runs(np.array(costs), np.array(restarts), need, least)
    if best == float("inf"):
        assert found is None
        return
    assert found is not None
    money = sum(sum(costs[a:b]) for a, b in found) + sum(restarts[a] for a, _ in found[1:])
    assert money == pytest.approx(best)
    assert all(b - a >= least for a, b in found)


def test_interruptible_jobs_fill_what_the_others_leave():
    jobs = [job("rock", 60, 60, 120), job("sand", 120, 0, 240, interruptible=True)]
    made = sound_plan(prices([0.3, 0.1, 0.2, 0.4]), jobs)
    assert pieces(made, "rock") == [(60, 120)]
    assert pieces(made, "sand") == [(0, 60), (120, 180)]


def test_two_interruptible_jobs_share_a_cheap_hour():
    jobs = [job("a", 30, 0, 180, interruptible=True), job("b", 90, 0, 180, interruptible=True)]
    made = sound_plan(prices([0.3, 0.1, 0.2]), jobs)
    assert made.cost == pytest.approx(0.1 + 0.2)


def test_interruptible_jobs_keep_to_the_watt_limit_and_to_the_capacity():
    jobs = [job(n, 60, 0, 180, 400.0, interruptible=True, machine=n) for n in ("a", "b", "c")]
    made = sound_plan(prices([0.3, 0.1, 0.2]), jobs, watt_limit=800.0)
    assert made.cost == pytest.approx(0.4 * (0.1 + 0.1 + 0.2))
    together = [job(n, 60, 0, 180, 400.0, interruptible=True) for n in ("a", "b", "c")]
    assert sound_plan(prices([0.3, 0.1, 0.2]), together, capacity=2).cost == pytest.approx(0.4 * (0.1 + 0.1 + 0.2))


def test_one_that_does_not_fit_in_any_pieces_is_infeasible():
    made = sound_plan(prices([0.1, None, 0.1]), [job("j", 150, 0, 180, interruptible=True)])
    assert reasons(made) == {"j": "no_price"}


@pytest.mark.parametrize("seed", range(8))
def test_mixed_jobs_with_restarts_and_minimum_runs_make_sound_plans(seed):
    draw = random.Random(seed)
    jobs = []
    for n in range(4):
        length, opens = 15 * draw.randrange(1, 9), 15 * draw.randrange(0, 12)
        more = {"interruptible": n % 2 == 0, "min_run_s": 900 * (n % 4 == 0), "restart_wh": 5.0 * (n == 2)}
        jobs.append(job(f"j{n}", length, opens, opens + length + 15 * draw.randrange(4, 20), 300.0 + n, **more))
    made = sound_plan(prices([draw.uniform(-0.05, 0.3) for _ in range(40)], 15), jobs)
    assert made.gap >= -1e-9
