"""Each item gets its share of the energy, and no joule is given twice."""

import numpy as np
import pytest
from asyncenergy_controller.metrics import item_energies_j
from hypothesis import given, settings
from hypothesis import strategies as st

modest = settings(max_examples=40, deadline=None)


def steady(watts: float, seconds: float) -> tuple[list[float], list[float]]:
    t_s = [i * 0.2 for i in range(round(seconds / 0.2) + 1)]
    return t_s, [watts * t * 1e3 for t in t_s]


@st.composite
def loads(draw):
    """A counter and items anywhere around it."""
    powers = draw(st.lists(st.floats(0, 800), min_size=2, max_size=30))
    steps_s = draw(st.lists(st.floats(0.05, 5), min_size=len(powers), max_size=len(powers)))
    t_s = np.concatenate(([0.0], np.cumsum(steps_s)))
    counter_mj = np.concatenate(([0.0], np.cumsum(np.multiply(powers, steps_s)))) * 1e3
    starts = draw(st.lists(st.floats(-5, t_s[-1] + 5), min_size=1, max_size=12))
    lengths = draw(st.lists(st.floats(0, 20), min_size=len(starts), max_size=len(starts)))
    return t_s, counter_mj, np.array(starts), np.add(starts, lengths)


def union_j(t_s, counter_mj, starts, ends) -> float:
    edges = np.unique(np.concatenate((starts, ends)))
    energy_j = np.interp(edges, t_s, counter_mj) / 1e3
    covered = [((starts <= a) & (ends >= b)).any() for a, b in zip(edges[:-1], edges[1:], strict=True)]
    return float(np.diff(energy_j)[covered].sum())


def test_edges_are_interpolated_on_the_counter():
    assert item_energies_j([0, 10], [0, 1_000_000], [2.5], [5.0]) == [pytest.approx(250)]


def test_an_item_longer_than_any_buffer():
    assert item_energies_j([0, 60], [0, 18_000_000], [0], [60]) == [pytest.approx(18_000)]


def test_two_items_in_flight_share_equally():
    assert item_energies_j(*steady(200, 12), [1, 1], [11, 11]) == pytest.approx([1000, 1000])


def test_only_the_shared_part_is_divided():
    assert item_energies_j(*steady(100, 20), [0, 5], [10, 20]) == pytest.approx([750, 1250])


def test_what_falls_between_items_belongs_to_none():
    assert sum(item_energies_j(*steady(100, 20), [0, 15], [10, 20])) == pytest.approx(1500)


def test_an_item_outside_the_sampled_range_has_no_energy_but_still_takes_its_share():
    # In flight: 0-2 two, 2-5 one, 5-8 two, 8-9 three, 9-10 two.
    energies = item_energies_j(*steady(100, 10), [0, 5, -1, 8], [10, 15, 2, 9])
    assert energies == [pytest.approx(100 + 300 + 150 + 100 / 3 + 50), None, None, pytest.approx(100 / 3)]
    assert item_energies_j(*steady(100, 10), [0, 5], [10, 15]) == [pytest.approx(750), None]


def test_a_late_first_reading_starts_the_sampled_range():
    energies = item_energies_j([0, 1, 2, 3], [None, 5e9, 5e9 + 1e5, 5e9 + 2e5], [0, 1], [1, 3])
    assert energies == [None, pytest.approx(200)]


def test_a_counter_that_fell_gives_no_item_an_energy():
    assert item_energies_j([0, 1, 2], [10, 12, 3], [0, 1], [1, 2]) == [None, None]


def test_an_unsupported_counter_gives_no_item_an_energy():
    assert item_energies_j([0, 1], [None, None], [0], [1]) == [None]
    assert item_energies_j([], [], [0], [1]) == [None]


def test_an_item_of_no_length_takes_nothing_from_the_others():
    assert item_energies_j(*steady(100, 10), [0, 5], [10, 5]) == pytest.approx([1000, 0])


def test_an_item_in_which_the_counter_did_not_move_was_not_measured():
    readings_mj = [0, 10_000, 10_000, 20_000]
    assert item_energies_j([0, 0.1, 0.15, 0.2], readings_mj, [0.0, 0.11], [0.1, 0.14]) == [pytest.approx(10), None]


def test_an_edge_in_a_hole_of_over_30_s_is_unknown_and_with_it_what_the_items_there_shared():
    # 100 W; no reading from 10 s to 50 s. The first spans the hole alone, the next two have an edge in it.
    t_s, counter_mj = [0, 10, 50, 60, 100], [0, 1e6, 5e6, 6e6, 10e6]
    assert item_energies_j(t_s, counter_mj, [5], [55]) == [pytest.approx(5000)]
    assert item_energies_j(t_s, counter_mj, [5, 20], [15, 30]) == [None, None]
    assert item_energies_j(t_s, counter_mj, [0, 0, 20, 60], [100, 10, 30, 100]) == [
        None,
        pytest.approx(500),
        None,
        pytest.approx(2000),
    ]


def test_the_readings_beside_a_hole_are_known_and_a_hole_of_30_s_is_none():
    assert item_energies_j([0, 10, 50, 60], [0, 1e6, 5e6, 6e6], [10, 50], [50, 60]) == pytest.approx([4000, 1000])
    assert item_energies_j([0, 31], [0, 3.1e6], [0], [31]) == [pytest.approx(3100)]
    assert item_energies_j([0, 10, 40], [0, 1e6, 4e6], [15], [30]) == [pytest.approx(1500)]


def test_no_items_no_energies():
    assert item_energies_j(*steady(100, 10), [], []) == []


def test_an_item_without_times_has_no_energy():
    assert item_energies_j(*steady(100, 10), [0, None], [10, None]) == [pytest.approx(1000), None]


def test_an_item_that_ends_before_it_starts_is_refused():
    with pytest.raises(ValueError, match="item 1 ends at 2.0 s, before it starts at 3.0 s"):
        item_energies_j(*steady(100, 10), [0, 3], [1, 2])


def test_columns_must_have_one_length():
    with pytest.raises(ValueError, match="one length"):
        item_energies_j([0, 1], [0, 1, 2], [0], [1])
    with pytest.raises(ValueError, match="one length"):
        item_energies_j([0, 1], [0, 1], [0, 0], [1])


@modest
@given(loads())
def test_the_items_never_hold_more_than_the_union_of_their_windows(load):
    given_out = [e for e in item_energies_j(*load) if e is not None]
    assert sum(given_out) <= union_j(*load) + 1e-6
    assert all(e >= -1e-9 for e in given_out)


@modest
@given(loads())
def test_within_the_sampled_range_the_items_hold_all_of_it(load):
    t_s, counter_mj, starts, ends = load
    starts, ends = np.clip(starts, t_s[0], t_s[-1]), np.clip(ends, t_s[0], t_s[-1])
    energies = item_energies_j(t_s, counter_mj, starts, ends)
    given_out = sum(energy for energy in energies if energy is not None)
    assert given_out == pytest.approx(union_j(t_s, counter_mj, starts, ends), abs=1e-6)


@modest
@given(loads(), st.randoms(use_true_random=False))
def test_the_order_of_the_items_does_not_matter(load, random):
    t_s, counter_mj, starts, ends = load
    order = list(range(len(starts)))
    random.shuffle(order)
    energies = item_energies_j(t_s, counter_mj, starts, ends)
    assert item_energies_j(t_s, counter_mj, starts[order], ends[order]) == [energies[i] for i in order]
