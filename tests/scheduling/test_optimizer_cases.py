"""Faults that planners of this field had, one test for each kind, with the value that was seen."""

from datetime import timedelta
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.optimizer import plan, verify
from tests.scheduling.planning import NOON, job, minute, pieces, prices, reasons, sound_plan, starts


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-100, 400), min_size=5, max_size=10), st.integers(0, 9))
def test_a_price_that_becomes_known_never_makes_a_plan_dearer(values, hidden):
    """A missing price was taken for 0 and chosen: missing is never a price."""
    known = [v / 1000 for v in values]
    partly = [None if n == hidden else v for n, v in enumerate(known)]
    work = [job("a", 90, 0, 60 * len(known)), job("b", 45, 0, 60 * len(known))]
    before, after = sound_plan(prices(partly), work), sound_plan(prices(known), work)
    assert len(after.placements) >= len(before.placements)
    if len(after.placements) == len(before.placements):
        assert after.cost <= before.cost + 1e-9


def test_a_published_mixture_of_60_30_and_15_minutes_is_one_day():
    """Four equal quarter-hours published early are the hour, to whichever step they are reduced."""
    mixed = [*prices([0.3, 0.1]), *[p for p in prices([0.2] * 6, 30) if p.start >= minute(120)]]
    assert starts(sound_plan(mixed, [job("j", 75, 0, 180)])) == {"j": 60}


def test_an_hour_costs_the_mean_of_its_quarters_not_the_first():
    made = sound_plan(prices([0.1, 0.5, 0.5, 0.5, 0.3, 0.3, 0.3, 0.3], 15), [job("j", 60, 0, 120)])
    assert made.cost == pytest.approx(4 * 0.3 / 4)
    assert starts(made) == {"j": 60}


def test_minus_one_cent_beats_twelve():
    """Negative hours were left out, as a spread was computed only over averages above 0."""
    assert starts(sound_plan(prices([0.12, -0.01, 0.12]), [job("j", 60, 0, 180)])) == {"j": 60}


def test_zero_and_negative_costs_pass_through():
    """Costs up to 0 were silently set to 1."""
    assert sound_plan(prices([0.1, 0.0]), [job("j", 60, 0, 120)]).cost == 0.0
    assert sound_plan(prices([0.1, -0.04]), [job("j", 60, 0, 120, 500.0)]).cost == pytest.approx(-0.02)


def test_nothing_is_padded_to_earn_a_negative_price():
    made = sound_plan(prices([-0.1] * 6), [job("j", 60, 0, 360)])
    assert pieces(made, "j") == [(0, 60)]
    assert made.cost == pytest.approx(-0.1)


def test_a_window_outside_the_horizon_neither_squeezes_in_nor_slows_the_others():
    outside = [job(f"out{n}", 60, 2000, 3000) for n in range(200)]
    begun = perf_counter()
    made = sound_plan(prices([0.2, 0.1]), [job("in", 60), *outside])
    assert set(reasons(made).values()) == {"not_in_horizon"}
    assert starts(made) == {"in": 60}
    assert perf_counter() - begun < 5


def test_the_deadline_is_never_moved():
    """The end was moved without a word where the window was too small."""
    made = sound_plan(prices([0.1] * 6), [job("j", 120, 0, 100)])
    assert made.placements == ()
    assert (made.infeasible[0].reason, made.infeasible[0].later_min) == ("duration 2h > window 1h40", 20)


def test_45_minutes_on_hourly_prices_cost_three_quarters_of_the_hour():
    """Two and a half steps were infeasible, or paid for three: occupation may round up, money never does."""
    assert sound_plan(prices([0.4, 0.2, 0.4]), [job("j", 45)]).cost == pytest.approx(0.75 * 0.2)


def test_the_last_known_slot_does_not_tempt_a_run_beyond_it():
    made = sound_plan(prices([0.3, 0.3, 0.05]), [job("j", 90, 0, 900)])
    assert starts(made) == {"j": 90}
    assert made.cost == pytest.approx(0.5 * 0.3 + 0.05)


def test_what_is_left_of_a_job_is_planned_and_a_running_one_stays():
    """Replanning forgot finished work and rolled the block to tomorrow."""
    points = prices([0.1, 0.2, 0.3, 0.05, 0.05])
    running = sound_plan(points[:3], [job("a", 120)])
    again = plan(points, [job("a", 120), job("b", 60)], now=minute(61), pinned=running.placements)
    assert verify(again, points, [job("a", 120), job("b", 60)], now=minute(61)) == []
    assert starts(again) == {"a": 0, "b": 180}


def test_a_window_that_opens_later_is_waited_for():
    """A constant load started at once though its window began later."""
    assert starts(sound_plan(prices([0.1] * 6), [job("j", 60, 135, 300)])) == {"j": 135}


def test_two_jobs_and_one_cheap_slot_share_the_sites_watts():
    """Two plans took the same slot, both got half the power, both were late."""
    jobs = [job("a", 60, 0, 180, 2000.0, machine="x"), job("b", 60, 0, 180, 2000.0, machine="y")]
    made = sound_plan(prices([0.3, 0.05, 0.2]), jobs, watt_limit=3000.0)
    assert sorted(starts(made).values()) == [60, 120]


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_a_timeout_still_publishes_the_best_plan_known(seconds):
    """A time-out with a closed gap published nothing."""
    jobs = [job(f"j{n}", 40 + 3 * n, 11 * n, 1000, 200.0 + n) for n in range(10)]
    made = sound_plan(prices([0.3, 0.1, 0.25, 0.2] * 5), jobs, time_limit_s=seconds)
    assert len(made.placements) == 10
    assert made.cost <= made.baseline_cost


def test_a_node_limit_makes_a_repeatable_plan_without_the_clock():
    jobs = [job(f"j{n}", 37 + 3 * n, 11 * n, 900, 200.0 + 7 * n) for n in range(9)]
    points = prices([0.3, 0.1, 0.25, 0.2, 0.15] * 4)
    first, second = (sound_plan(points, jobs, node_limit=1, time_limit_s=60) for _ in range(2))
    assert first == second
    assert not first.time_limited


def test_ties_go_to_the_earliest_end_and_then_to_the_smaller_id():
    made = sound_plan(prices([0.2] * 8), [job("b", 60), job("a", 60), job("c", 30)])
    assert starts(made) == {"c": 0, "a": 30, "b": 90}


def test_savings_are_on_whole_jobs_against_a_baseline():
    """Savings were told for one hour against the next, and not at all in between."""
    made = sound_plan(prices([0.4, 0.3, 0.1, 0.1]), [job("j", 90, 10, 240)])
    assert made.baseline_costs["j"] == pytest.approx(0.4 * 50 / 60 + 0.3 * 40 / 60)
    assert made.cost == pytest.approx(0.15)


def test_every_datetime_must_be_aware():
    naive = NOON.replace(tzinfo=None)
    for question in (
        lambda: plan(prices([0.1]), [], now=naive),
        lambda: plan(prices([0.1]), [job("j", 30, 0, 60)], now=naive + timedelta(0)),
    ):
        with pytest.raises(ValueError, match="without a time zone"):
            question()
