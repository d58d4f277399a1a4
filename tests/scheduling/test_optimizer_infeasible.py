"""What can't be placed, why, and what would help."""

from datetime import timedelta

import pytest

from scheduling.optimizer import Job, plan
from tests.scheduling.planning import NOON, job, minute, prices, reasons, sound_plan, starts


def moved(work: Job, minutes: int) -> Job:
    opens, closes = ((t - NOON) / timedelta(minutes=1) for t in (work.earliest_start, work.deadline))
    return job(work.id, work.duration_s / 60, opens, closes + minutes, work.power_w, machine=work.machine)


def test_a_window_outside_the_known_prices_is_not_in_horizon():
    made = sound_plan(prices([0.1] * 4), [job("late", 60, 300, 600), job("early", 60, -300, 0), job("ok", 60)])
    assert reasons(made) == {"late": "not_in_horizon", "early": "not_in_horizon"}
    assert {i.proof for i in made.infeasible} == {"window"}
    assert starts(made) == {"ok": 0}


def test_a_duration_longer_than_its_window_is_said_in_words_and_never_shortened():
    made = sound_plan(prices([0.1] * 12), [job("j", 300, 60, 270)])
    (refused,) = made.infeasible
    assert refused.reason == "duration 5h > window 3h30"
    assert refused.smallest_change == "deadline 90 min later"
    assert starts(sound_plan(prices([0.1] * 12), [moved(job("j", 300, 60, 270), 90)])) == {"j": 60}


@pytest.mark.parametrize(
    ("minutes", "window", "reason"),
    [
        (60, 59, "duration 1h > window 59min"),
        (61, 60, "duration 1h01 > window 1h"),
        (1.5, 1, "duration 1min30s > window 1min"),
        (90.5, 90, "duration 1h30min30s > window 1h30"),
    ],
)
def test_lengths_are_written_as_people_do(minutes, window, reason):
    assert sound_plan(prices([0.1] * 4), [job("j", minutes, 0, window)]).infeasible[0].reason == reason


def test_a_deadline_that_is_past_is_not_moved():
    made = sound_plan(prices([0.1] * 4), [job("j", 30, 0, 60)], now=minute(45))
    assert made.infeasible[0].reason == "duration 30min > window 15min"
    assert made.infeasible[0].later_min == 15


def test_a_hole_in_the_prices_is_never_used():
    made = sound_plan(prices([0.3, None, 0.1, 0.1]), [job("j", 90, 0, 180)])
    assert reasons(made) == {"j": "no_price"}
    assert made.infeasible[0].smallest_change == "deadline 30 min later"


def test_a_run_may_not_leave_the_known_prices():
    """The last hour is the cheapest, but a run of two hours from there would end where no price is known."""
    assert starts(sound_plan(prices([0.3, 0.2, 0.1]), [job("j", 120, 0, 600)])) == {"j": 60}


def test_a_job_above_the_watt_limit_says_how_many_watts_are_missing():
    made = sound_plan(prices([0.1] * 4), [job("j", 60, 0, 120, 900.0)], watt_limit=800.0)
    (refused,) = made.infeasible
    assert (refused.reason, refused.more_watts, refused.proof) == ("watt_limit", 100.0, "window")
    assert sound_plan(prices([0.1] * 4), [job("j", 60, 0, 120, 900.0)], watt_limit=900.0).placements


def test_the_missing_watts_are_more_watts_also_where_time_is_kept_free_after_the_run():
    profile = ((1800.0, 900.0), (1800.0, 0.0))
    made = sound_plan(prices([0.1] * 4), [job("j", 75, 0, 120, profile)], watt_limit=800.0)
    (refused,) = made.infeasible
    assert (refused.more_watts, refused.smallest_change) == (100.0, "watt limit 100 W higher")


def test_beside_a_pinned_run_the_missing_watts_count_what_it_draws():
    points = prices([0.1] * 4)
    running = sound_plan(points, [job("old", 240, 0, 240, 500.0, machine="x")]).placements
    made = plan(points, [job("j", 60, 0, 120, 400.0, machine="y")], now=NOON, pinned=running, watt_limit=800.0)
    assert (made.infeasible[0].reason, made.infeasible[0].more_watts) == ("watt_limit", 100.0)


def test_the_smallest_delay_lets_the_others_move():
    """Alone, `a` would run from 60 to 120 in the cheap hour; to let `b` end at 120, it moves to the front."""
    jobs = [job("a", 60, 0, 120, priority=1), job("b", 60, 30, 100)]
    made = sound_plan(prices([0.3, 0.1, 0.3, 0.3]), jobs)
    (refused,) = made.infeasible
    assert (refused.id, refused.reason, refused.proof, refused.later_min) == ("b", "capacity", "solver", 20)
    assert len(sound_plan(prices([0.3, 0.1, 0.3, 0.3]), [jobs[0], moved(jobs[1], 20)]).placements) == 2


def test_under_a_watt_limit_the_smallest_raise_lets_all_run():
    jobs = [job(n, 60, 0, 60, w, machine=n) for n, w in (("a", 300.0), ("b", 400.0), ("c", 500.0))]
    made = sound_plan(prices([0.1] * 2), jobs, watt_limit=900.0)
    (refused,) = made.infeasible
    assert (refused.reason, refused.more_watts) == ("watt_limit", 300.0)
    assert len(sound_plan(prices([0.1] * 2), jobs, watt_limit=1200.0).placements) == 3


@pytest.mark.parametrize("seed", range(12))
def test_the_change_that_is_named_helps(seed):
    import random

    draw = random.Random(seed)
    jobs = []
    for n in range(4):
        length, opens = 5 * draw.randrange(4, 20), 5 * draw.randrange(0, 10)
        jobs.append(job(f"j{n}", length, opens, opens + length + 5 * draw.randrange(0, 12), 300.0))
    points = prices([draw.uniform(0, 0.3) for _ in range(10)])
    made = sound_plan(points, jobs)
    for refused in made.infeasible:
        assert refused.later_min is not None
        helped = [
            moved(j, refused.later_min) if j.id == refused.id else j
            for j in jobs
            if j.id == refused.id or j.id in starts(made)
        ]
        assert not sound_plan(points, helped).infeasible


def test_nothing_at_all_is_a_plan():
    made = sound_plan([], [])
    assert (made.placements, made.cost, made.lower_bound, made.proved) == ((), 0.0, 0.0, True)
    assert reasons(sound_plan([], [job("j", 60)])) == {"j": "not_in_horizon"}
