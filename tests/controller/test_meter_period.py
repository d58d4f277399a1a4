"""How often a driver's value moves."""

import math

import pytest
from asyncenergy_controller.meters.period import update_period_s
from hypothesis import given, settings
from hypothesis import strategies as st


def staircase(period_s, *, read_every_s, seconds=3.0, jitter=lambda i: 0.0):
    times = [i * read_every_s + jitter(i) for i in range(round(seconds / read_every_s))]
    return times, [math.floor(t / period_s + 1e-9) * 1000.0 for t in times]


def test_a_100_ms_staircase_gives_a_tenth_of_a_second():
    assert update_period_s(*staircase(0.1, read_every_s=0.005)) == pytest.approx(0.1, abs=0.02)


@settings(max_examples=50)
@given(st.floats(0.02, 0.5), st.integers(4, 20))
def test_the_period_is_found_within_one_reading(period_s, faster):
    times, values = staircase(period_s, read_every_s=period_s / faster, seconds=20 * period_s)
    assert update_period_s(times, values) == pytest.approx(period_s, abs=1.01 * period_s / faster)


@pytest.mark.parametrize("values", [[5.0] * 100, [None] * 100, [0.0] * 100, [1.0] * 50 + [2.0] * 50])
def test_a_value_that_hardly_moves_has_no_period_and_never_0(values):
    assert update_period_s([i * 0.01 for i in range(100)], values) is None


def test_missing_readings_are_left_out():
    times, values = staircase(0.1, read_every_s=0.01)
    values[::7] = [None] * len(values[::7])
    assert update_period_s(times, values) == pytest.approx(0.1, abs=0.02)


def test_the_first_reading_alone_is_no_change():
    assert update_period_s([], []) is None
    assert update_period_s([0.0], [1.0]) is None
