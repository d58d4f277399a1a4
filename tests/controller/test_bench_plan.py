"""Plans: the suites as data, the order of the questions, and how long it all takes."""

import pytest
from asyncenergy_controller.bench import suites
from asyncenergy_controller.bench.plan import Plan, Timings, Unit, item_order, repeated, with_power_caps
from asyncenergy_controller.bench.projection import Projection, expectation
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

UNIT = Unit(task="arith", n_items=10)


def test_smoke_is_forty_of_the_easiest_questions():
    (unit,) = suites.SMOKE.units
    assert (unit.task, unit.n_items, unit.level) == ("arith", 40, 1)


def test_quick_is_the_deployed_suite_with_its_mini_sweep():
    assert [(unit.task, unit.n_items, unit.power_cap) for unit in suites.QUICK.units] == [
        ("gsm8k_platinum", 25, None),
        ("mmlu_redux", 50, None),
        ("ifeval", 25, None),
        ("gsm8k_platinum", 25, 0.85),
        ("gsm8k_platinum", 25, 0.75),
        ("gsm8k_platinum", 25, 0.65),
    ]


def test_calibrate_is_fifteen_items_and_the_first_cap():
    assert [(unit.n_items, unit.power_cap) for unit in suites.CALIBRATE.units] == [(15, None), (15, 0.85)]


@given(n=st.integers(1, 60), seed=st.integers(0, 99))
def test_the_order_holds_every_item_once_and_depends_on_the_seed_alone(n, seed):
    order = item_order(range(n), seed=seed, unit=UNIT)
    assert sorted(order) == list(range(n))
    assert order == item_order(range(n), seed=seed, unit=UNIT)


@given(n=st.integers(2, 20), last=st.integers(0, 19))
def test_no_item_is_asked_twice_in_a_row_across_a_repeat(n, last):
    order = item_order(range(n), seed=1, unit=UNIT, after=last)
    assert order[0] != last


def test_another_repeat_has_another_order():
    orders = {tuple(item_order(range(30), seed=1, unit=unit)) for unit in repeated([UNIT], 3)}
    assert len(orders) == 3


def test_repeats_run_round_by_round():
    other = Unit(task="gsm8k", n_items=5)
    assert [(u.task, u.repeat_index) for u in repeated([UNIT, other], 2)] == [
        ("arith", 0),
        ("gsm8k", 0),
        ("arith", 1),
        ("gsm8k", 1),
    ]


def test_labels_tell_the_units_of_a_sweep_apart():
    labels = [unit.label for unit in with_power_caps(UNIT, (None, 0.85, 0.75))]
    assert labels == ["arith", "arith-cap85", "arith-cap75"]


@pytest.mark.parametrize("wrong", [{"n_items": 0}, {"n_items": 5001}, {"concurrency": 0}, {"typo": 1}])
def test_a_plan_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValidationError):
        Unit(**{"task": "arith", "n_items": 10} | wrong)


def test_time_left_is_the_pace_so_far_over_everything_that_is_left():
    plan = Plan(suite="run", units=repeated([UNIT], 2), timings=Timings(idle_s=10, lead_in_s=2))
    projection = Projection(plan)
    assert projection.left_s(0, 2) is None
    projection.measured(UNIT, 4, 8.0)
    assert projection.left_s(0, 4) == pytest.approx(6 * 2 + 2 + 10 * 2 + 14)


def test_each_task_has_its_own_pace():
    slow = Unit(task="gsm8k", n_items=5)
    plan = Plan(suite="run", units=(UNIT, slow, UNIT), timings=Timings(idle_s=0, lead_in_s=0))
    projection = Projection(plan)
    projection.measured(UNIT, 10, 10.0)
    projection.measured(slow, 5, 50.0)
    assert projection.left_s(1, 5) == pytest.approx(10.0)


def test_quick_says_what_to_expect_before_anything_was_measured():
    full = suites.QUICK.n_items
    assert "25 minutes" in expectation(suites.QUICK, "gpu", full)
    assert "80 minutes" in expectation(suites.QUICK, "soc", full)
    assert "projected after" in expectation(suites.QUICK, "cpu", full)
