"""One job in one piece: exact, and itself the proof."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.optimizer import Job, PricePoint, plan, random_start_mean
from tests.scheduling.planning import NOON, job, minute, prices, sound_plan, starts

values = st.lists(st.integers(-200, 600).map(lambda n: n / 1000), min_size=6, max_size=24)
profiles = st.lists(st.tuples(st.integers(1, 90).map(lambda m: m * 60), st.integers(0, 900)), min_size=1, max_size=4)


def profile_job(profile: list[tuple[int, int]], horizon: int) -> Job:
    minutes = sum(seconds for seconds, _ in profile) / 60
    return job("j", minutes, 0, horizon, tuple(profile))


def cost_by_hand(hourly: list[float], profile: list[tuple[int, int]], start: int) -> float:
    """Money of a run from `start` (minutes), minute by minute."""
    total, at = 0.0, start
    for seconds, watts in profile:
        for _ in range(seconds // 60):
            total, at = total + hourly[at // 60] * watts / 60000, at + 1
    return total


@settings(max_examples=40, deadline=None)
@given(values, profiles)
def test_no_other_start_is_cheaper(hourly, profile):
    horizon = 60 * len(hourly)
    work = profile_job(profile, horizon)
    made = sound_plan(prices(hourly), [work])
    if work.duration_s > horizon * 60:
        assert made.infeasible
        return
    others = [cost_by_hand(hourly, profile, s) for s in range(0, horizon - int(work.duration_s // 60) + 1, 17)]
    assert made.cost <= min(others) + 1e-9
    assert made.lower_bound == pytest.approx(made.cost, abs=1e-9)
    assert made.proved


@settings(max_examples=40, deadline=None)
@given(values, st.integers(10, 300), st.integers(0, 120), st.sampled_from([0.25, 3.0, 1000.0]), st.integers(-50, 50))
def test_a_constant_added_and_a_positive_scale_move_nothing(hourly, minutes, opens, scale, added):
    work = [job("j", minutes, opens, 60 * len(hourly), 300.0)]
    here = starts(plan(prices(hourly), work, now=NOON))
    assert starts(plan(prices([v * scale for v in hourly]), work, now=NOON)) == here
    assert starts(plan(prices([v + added / 100 for v in hourly]), work, now=NOON)) == here


@settings(max_examples=40, deadline=None)
@given(values, st.integers(10, 300))
def test_splitting_points_or_mixing_resolutions_changes_nothing(hourly, minutes):
    work = [job("j", minutes, 0, 60 * len(hourly), 300.0)]
    quarters = prices([value for value in hourly for _ in range(4)], step=15)
    mixed = prices(hourly)[:3] + quarters[12:]
    assert plan(quarters, work, now=NOON) == plan(mixed, work, now=NOON) == plan(prices(hourly), work, now=NOON)


def test_a_profile_may_be_best_where_neither_of_its_ends_meets_a_price_edge():
    """A hungry middle belongs in the cheap hour: the run starts 30 minutes before it."""
    made = sound_plan(
        prices([0.3, 0.3, 0.05, 0.3, 0.3]), [job("j", 120, watts=((1800, 100), (3600, 1000), (1800, 100)))]
    )
    assert starts(made) == {"j": 90}


def test_a_shorter_profile_ends_in_nothing_and_keeps_the_reserved_time_free():
    points = prices([0.3, 0.1, 0.5])
    made = sound_plan(points, [job("a", 120, 0, 180, ((1800, 1000),)), job("b", 60, 0, 180)])
    assert made.cost == pytest.approx(0.05 + 0.3)
    assert starts(made) == {"a": 60, "b": 0}


def test_of_equally_cheap_starts_the_earliest_is_taken():
    assert starts(sound_plan(prices([0.2, 0.1, 0.1, 0.1, 0.2]), [job("j", 60)])) == {"j": 60}


def test_a_start_is_never_before_the_earliest_and_takes_it_to_the_microsecond():
    odd = minute(7) + timedelta(microseconds=123457)
    work = Job("j", 3600, 500.0, odd, minute(600))
    made = sound_plan(prices([0.1, 0.2, 0.3]), [work])
    assert made.placements[0].start == odd


def test_the_random_start_is_a_mean_in_closed_form():
    hourly, work = [0.1, 0.3, 0.2], job("j", 60, 0, 180)
    points = prices(hourly)
    by_hand = [cost_by_hand(hourly, [(3600, 1000)], s) for s in range(121)]
    trapezoid = (sum(by_hand) - (by_hand[0] + by_hand[-1]) / 2) / 120
    assert random_start_mean(points, work, now=NOON) == pytest.approx(trapezoid)
    assert random_start_mean(points, job("j", 180, 0, 180), now=NOON) == pytest.approx(0.6)
    assert random_start_mean(points, job("j", 200, 0, 180), now=NOON) is None


def test_a_random_start_counts_only_starts_that_are_priced():
    assert random_start_mean(prices([0.1, None, 0.3]), job("j", 60, 0, 180), now=NOON) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"duration_s": 0}, "above 0"),
        ({"power_w": -5.0}, "below 0"),
        ({"power_w": float("nan")}, "below 0"),
        ({"power_w": ((7200, 100.0),)}, "lasts longer"),
        ({"power_w": ((600, 100.0), (600, 50.0)), "interruptible": True}, "one number"),
        ({"earliest_start": NOON.replace(tzinfo=None)}, "without a time zone"),
        ({"restart_wh": -1.0}, "below 0"),
    ],
)
def test_a_job_that_makes_no_sense_is_refused(change, message):
    fields = {"id": "j", "duration_s": 3600, "power_w": 100.0, "earliest_start": NOON, "deadline": minute(600)}
    with pytest.raises(ValueError, match=message):
        plan(prices([0.1] * 12), [Job(**(fields | change))], now=NOON)


def test_prices_that_overlap_or_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match="two price points cover"):
        plan([*prices([0.1, 0.2]), *prices([0.1])], [], now=NOON)
    with pytest.raises(ValueError, match="is nan"):
        plan(prices([float("nan")]), [], now=NOON)
    with pytest.raises(ValueError, match="not after its start"):
        plan([PricePoint(NOON, NOON, 0.1)], [], now=NOON)


def test_two_jobs_of_one_name_are_refused():
    with pytest.raises(ValueError, match=r"\['j'\] more than once"):
        plan(prices([0.1] * 4), [job("j", 60), job("j", 30)], now=NOON)
