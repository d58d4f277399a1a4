"""How figures are written and where they are drawn."""

from collections.abc import Sequence
from math import isclose
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.presentation import (
    Interval,
    LogScale,
    between,
    counted,
    duration,
    fixed,
    percent,
    significant,
    stacked,
    thinned,
    with_sign,
    with_unit,
)


def scale_over(values: Sequence[float | None]) -> LogScale:
    scale = LogScale.over(values)
    assert scale is not None
    return scale


def drawn(scale: LogScale, *ends: Any) -> Interval:
    interval = scale.interval(*ends)
    assert interval is not None
    return interval


joules = st.floats(min_value=1e-6, max_value=1e9)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (31.42, "31.4"),
        (0.9168, "0.917"),
        (133.9, "134"),
        (1724.4, "1,724"),
        (99.96, "100"),
        (9.996, "10.0"),
        (0, "0"),
        (-3.14159, "−3.14"),
        (0.000001234, "0.00000123"),
    ],
)
def test_lists_show_three_significant_digits(value, text):
    assert significant(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(5838.74, "5,838.7"), (-0.34, "−0.3"), (-0.04, "0.0"), (-1234.5, "−1,234.5"), (0, "0.0")]
)
def test_run_pages_show_one_decimal_and_a_true_minus(value, text):
    assert fixed(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.2, "+0.2"), (-0.34, "−0.3"), (0.01, "0.0"), (-0.01, "0.0")])
def test_a_difference_carries_its_sign_unless_it_rounds_to_zero(value, text):
    assert with_sign(value) == text


def test_units_follow_a_narrow_no_break_space():
    assert with_unit("31.4", "J") == "31.4\u202fJ"


def test_a_range_with_a_negative_end_is_written_in_words():
    assert between("102", "219") == "102–219"
    assert between("−3.1", "0.4") == "−3.1 to 0.4"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(47.23, "47.2 s"), (59.97, "1 min 0 s"), (185, "3 min 5 s"), (7500, "2 h 5 min"), (0, "0.0 s")],
)
def test_times_are_written_so_that_they_can_be_grasped(seconds, text):
    assert duration(seconds).replace("\u202f", " ") == text


def test_counts_agree_with_their_noun():
    assert [counted(1, "machine"), counted(1204, "run"), counted(2, "query", "queries")] == [
        "1 machine",
        "1,204 runs",
        "2 queries",
    ]


def test_accuracy_is_written_in_percent_with_one_decimal():
    assert percent(7 / 40) == "17.5"


@given(joules)
def test_three_digits_are_right_to_half_a_percent(value):
    assert isclose(float(significant(value).replace(",", "")), value, rel_tol=0.00501)


@settings(max_examples=50)
@given(st.lists(joules, min_size=1, max_size=30))
def test_a_scale_holds_all_its_values_in_order(values):
    scale = scale_over(values)
    places = [float(scale.x(value).rstrip("%")) for value in sorted(values)]
    assert places == sorted(places)
    assert all(0 <= place <= 100 for place in places)
    assert scale.low <= min(values) * (1 + 1e-6)
    assert scale.high >= max(values) * (1 - 1e-6)


def test_a_scale_marks_the_powers_of_ten():
    scale = scale_over([31.4, None, 1724])
    assert (scale.low, scale.high) == (20, 2000)
    assert [tick.text for tick in scale.ticks()] == ["100", "1,000"]
    assert scale.x(200) == "50.0%"


def test_a_narrow_scale_marks_twos_and_fives_as_well():
    assert [tick.text for tick in scale_over([22, 48]).ticks()] == ["20", "50"]


def test_one_value_still_makes_a_scale():
    assert scale_over([100]).x(100) == "50.0%"


def test_nothing_positive_makes_no_scale_and_no_mark():
    assert LogScale.over([None, 0, -3]) is None
    assert LogScale(10, 1000).interval(0, (0, 1)) is None


def test_an_interval_lies_around_its_value_and_inside_the_wider_one():
    interval = drawn(LogScale(10, 1000), 100, (50, 200), (20, 500))
    places = [interval.wide_low, interval.low, interval.value, interval.high, interval.wide_high]
    assert interval.value == "50.0%"
    assert places == sorted(places, key=lambda place: float(str(place).rstrip("%")))


def test_a_withheld_interval_is_not_drawn():
    interval = drawn(LogScale(10, 1000), 100, None)
    assert (interval.low, interval.high, interval.wide_low) == (None, None, None)


def test_parts_lie_end_to_end():
    empty, loaded, answering = stacked([60, 30, 10]) or []
    assert [empty.x, loaded.x, answering.x] == ["0.00%", "60.00%", "90.00%"]
    assert answering.width == "10.00%"
    assert answering.share == 0.1


def test_a_negative_part_is_never_clamped_into_a_bar():
    assert stacked([60, 50, -10]) is None
    assert stacked([0, 0]) is None


@settings(max_examples=50)
@given(st.lists(st.none() | st.floats(0, 700), min_size=1, max_size=400), st.integers(5, 120))
def test_thinning_keeps_the_peak_the_floor_and_the_ends(samples, limit):
    kept = thinned(samples, limit)
    measured = [sample for sample in samples if sample is not None]
    shown = [samples[i] for i in kept if samples[i] is not None]
    assert kept == sorted(set(kept))
    assert len(kept) <= max(limit, 5)
    assert (kept[0], kept[-1]) == (0, len(samples) - 1)
    assert measured == shown == [] or (max(shown), min(shown)) == (max(measured), min(measured))


def test_thinning_leaves_a_gap_a_gap():
    samples = [*[100.0] * 150, None, *[100.0] * 149]
    assert 150 in thinned(samples, 60)
