"""Power and counters become joules, or nothing."""

import numpy as np
import pytest
from asyncenergy_controller.metrics import (
    CounterReading,
    counter_energy_j,
    integrate_power_j,
    wrapping_counter_energy_j,
)
from hypothesis import given, settings
from hypothesis import strategies as st

modest = settings(max_examples=40, deadline=None)
watts = st.floats(0, 2000, allow_nan=False)


def every(period_s: float, seconds: float) -> list[float]:
    return [i * period_s for i in range(round(seconds / period_s) + 1)]


@st.composite
def traces(draw, min_size=2):
    power = draw(st.lists(watts, min_size=min_size, max_size=40))
    steps = draw(st.lists(st.floats(0.01, 25), min_size=len(power), max_size=len(power)))
    return np.cumsum(steps).tolist(), power


def test_equal_samples_all_count():
    assert integrate_power_j(every(0.2, 10), [100.0] * 51) == pytest.approx(1000)


def test_a_step_is_integrated_to_one_sample():
    t_s = every(0.2, 10)
    assert integrate_power_j(t_s, [100 if t < 5 else 300 for t in t_s]) == pytest.approx(2000, abs=0.2 * 200)


def test_a_pulse_is_integrated_without_trimming():
    t_s = every(0.2, 15)
    power = [300 if 5 <= t < 10 else 30 for t in t_s]
    assert integrate_power_j(t_s, power) == pytest.approx(300 * 5 + 30 * 10, abs=0.2 * 270)


def test_280_w_for_a_minute():
    assert integrate_power_j(every(0.2, 60), [280.0] * 301) == pytest.approx(16_800)


def test_two_samples_are_enough_and_one_is_not():
    assert integrate_power_j([0, 60], [300, 300]) is None
    assert integrate_power_j([0, 30], [300, 300]) == pytest.approx(9000)
    assert integrate_power_j([0], [300]) is None
    assert integrate_power_j([], []) is None


@pytest.mark.parametrize("missing", [None, float("nan"), float("inf")])
def test_a_missing_sample_is_skipped_and_is_no_zero(missing):
    assert integrate_power_j([0, 1, 2], [100, missing, 100]) == pytest.approx(200)


def test_a_hole_of_over_30_s_voids_the_integral():
    assert integrate_power_j([0, 1, 31, 32], [100] * 4) == pytest.approx(3200)
    assert integrate_power_j([0, 1, 31.5, 32], [100] * 4) is None
    assert integrate_power_j([0, 20, 40], [100, None, 100]) is None


def test_arrays_and_tuples_do_as_well_as_lists():
    assert integrate_power_j(np.array([0, 1]), np.array([5, 5])) == integrate_power_j((0, 1), (5, 5)) == 5


@pytest.mark.parametrize("t_s", [[0, 0, 1], [0, 2, 1], [0, None, 1]])
def test_time_must_rise(t_s):
    with pytest.raises(ValueError, match="t_s"):
        integrate_power_j(t_s, [1, 1, 1])


def test_columns_must_have_one_length():
    with pytest.raises(ValueError, match="'t_s': 3, 'power_w': 2"):
        integrate_power_j([0, 1, 2], [1, 1])


@modest
@given(traces(min_size=3), st.data())
def test_the_integral_is_the_sum_of_its_parts(trace, data):
    t_s, power = trace
    cut = data.draw(st.integers(1, len(t_s) - 2))
    parts = integrate_power_j(t_s[: cut + 1], power[: cut + 1]) + integrate_power_j(t_s[cut:], power[cut:])
    assert integrate_power_j(t_s, power) == pytest.approx(parts)


@modest
@given(traces(), st.floats(0, 50), st.floats(-1e5, 1e5))
def test_the_integral_scales_with_power_and_does_not_see_the_clocks_origin(trace, factor, shift_s):
    t_s, power = trace
    scaled = integrate_power_j([t + shift_s for t in t_s], [factor * p for p in power])
    assert scaled == pytest.approx(factor * integrate_power_j(t_s, power), rel=1e-6, abs=1e-6)


@modest
@given(traces())
def test_the_integral_lies_between_lowest_and_highest_power(trace):
    t_s, power = trace
    seconds = t_s[-1] - t_s[0]
    assert min(power) * seconds - 1e-6 <= integrate_power_j(t_s, power) <= max(power) * seconds + 1e-6


def test_a_counter_gives_last_minus_first():
    assert counter_energy_j([7_000_000, 12_000_000, 17_000_000]) == CounterReading(10_000.0, None)


def test_a_counter_that_fell_is_void():
    assert counter_energy_j([10e6, 12e6, 3e6]) == CounterReading(None, "counter_reset")
    assert counter_energy_j([10e6, None, 3e6, 20e6]) == CounterReading(None, "counter_reset")


def test_the_first_valid_reading_is_a_baseline_not_a_delta():
    assert counter_energy_j([None, float("nan"), 5_000_000_000, 5_000_010_000]) == CounterReading(10.0, None)


def test_without_two_readings_there_is_no_energy():
    assert counter_energy_j([None, None]) == CounterReading(None, "counter_unsupported")
    assert counter_energy_j([]) == CounterReading(None, "counter_unsupported")
    assert counter_energy_j([None, 5_000]) == CounterReading(None, "too_few_readings")


@modest
@given(st.lists(st.integers(0, 10**9), min_size=2, max_size=30), st.integers(0, 10**12))
def test_a_counter_never_gives_less_than_nothing_and_does_not_see_its_start(steps_mj, start_mj):
    readings = np.cumsum([start_mj, *steps_mj])
    expected = pytest.approx(sum(steps_mj) / 1e3) if sum(steps_mj) else None
    assert counter_energy_j(readings).joules == expected


@modest
@given(st.floats(0, 10), st.floats(0.001, 0.3), st.floats(1, 700))
def test_a_window_in_which_the_counter_did_not_move_was_not_measured(start_s, length_s, watts):
    def counter_mj(t_s):
        """Moves every 100 ms, as an H200's does."""
        return 5e9 + 1e3 * watts * int(t_s / 0.1) * 0.1

    first, last = counter_mj(start_s), counter_mj(start_s + length_s)
    counted = counter_energy_j([first, last])
    assert counted == (CounterReading(None, "counter_stuck") if first == last else CounterReading(counted.joules))
    assert counted.joules != 0


@pytest.mark.parametrize("count", [counter_energy_j, lambda readings: wrapping_counter_energy_j(readings, 1e9)])
def test_a_counter_that_did_not_move_gives_no_energy(count):
    assert count([7e6, 7e6, None, 7e6]) == CounterReading(None, "counter_stuck")


def test_every_wrap_is_corrected():
    twice = wrapping_counter_energy_j([900e6, 100e6, 800e6, None, 50e6], range_uj=1000e6)
    assert twice == CounterReading(pytest.approx(1150.0), None)


def test_a_wrap_without_its_range_is_void():
    assert wrapping_counter_energy_j([900, 100], None) == CounterReading(None, "range_unknown")
    assert wrapping_counter_energy_j([900, 100], 0) == CounterReading(None, "range_unknown")
    assert wrapping_counter_energy_j([100e6, 900e6], None) == CounterReading(800.0, None)


def test_a_fall_deeper_than_the_range_is_no_wrap():
    assert wrapping_counter_energy_j([5000, 10], 1000) == CounterReading(None, "counter_reset")


@modest
@given(st.lists(st.integers(0, 999_999), min_size=1, max_size=50), st.integers(0, 999_999))
def test_wrapping_gives_back_what_was_counted(steps_uj, start_uj):
    readings = [int(r) % 1_000_000 for r in np.cumsum([start_uj, *steps_uj])]
    expected = pytest.approx(sum(steps_uj) / 1e6) if sum(steps_uj) else None
    assert wrapping_counter_energy_j(readings, 1_000_000).joules == expected
