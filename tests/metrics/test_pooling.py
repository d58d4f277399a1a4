"""Runs become rows without inventing evidence."""

import pytest
from asyncenergy_controller.metrics import (
    Standing,
    efficiency_index,
    median_index,
    pareto_front,
    pooled_accuracy,
    shared_ranks,
    wilson_interval,
)
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

modest = hypothesis_settings(max_examples=40, deadline=None)


@st.composite
def standings(draw):
    value = draw(st.none() | st.floats(0.1, 1000))
    if value is None or draw(st.integers(0, 4)) == 0:
        return Standing(value)
    return Standing(value, value - draw(st.floats(0, 100)), value + draw(st.floats(0, 100)))


def test_of_two_machines_the_worse_is_the_median():
    assert median_index([90.0, 110.0]) == 1
    assert median_index([110.0, 90.0]) == 0
    assert median_index([3.0, 1.0, 2.0]) == 2
    with pytest.raises(ValueError, match="values is empty"):
        median_index([])


def test_the_same_item_on_more_machines_is_no_new_evidence():
    one = [(i, float(i < 7)) for i in range(40)]
    pooled = pooled_accuracy(one * 25)
    assert pooled == pooled_accuracy(one)
    assert (pooled.accuracy, pooled.n_items) == (0.175, 40)
    assert (pooled.low, pooled.high) == pytest.approx(wilson_interval(7, 40))


def test_an_items_score_is_the_mean_of_its_runs():
    assert pooled_accuracy([(1, 1.0), (1, 0.0), (2, 1.0)]).accuracy == 0.75
    assert pooled_accuracy([]) is None


def test_overlap_with_the_leader_shares_a_rank():
    # The third overlaps the second but not the leader: it leads the next group.
    rows = [Standing(100, 90, 110), Standing(108, 100, 118), Standing(115, 112, 130), Standing(125, 113, 140)]
    assert shared_ranks(rows) == [1, 1, 3, 3]


def test_rows_without_value_or_interval_have_no_rank():
    rows = [Standing(5), Standing(None), Standing(100, 90, 110), Standing(50, 40, 60)]
    assert shared_ranks(rows) == [None, None, 2, 1]


def test_where_more_is_better_the_highest_leads():
    rows = [Standing(0.2, 0.1, 0.3), Standing(0.9, 0.8, 0.95), Standing(0.85, 0.7, 0.9)]
    assert shared_ranks(rows, descending=True) == [3, 1, 1]


@modest
@given(st.lists(standings(), max_size=20))
def test_ranks_follow_the_shown_value(rows):
    ranks = shared_ranks(rows)
    ranked = sorted((row.value, rank) for row, rank in zip(rows, ranks, strict=True) if rank is not None)
    assert [rank for _, rank in ranked] == sorted(rank for _, rank in ranked)
    assert all((rank is None) == (row.low is None) for row, rank in zip(rows, ranks, strict=True))
    assert not ranked or ranked[0][1] == 1


@modest
@given(st.lists(standings(), max_size=12), st.randoms(use_true_random=False))
def test_ranks_do_not_depend_on_the_order_of_the_rows(rows, random):
    rows = list({row.value: row for row in rows}.values())
    order = list(range(len(rows)))
    random.shuffle(order)
    ranks = shared_ranks(rows)
    assert shared_ranks([rows[i] for i in order]) == [ranks[i] for i in order]


values = st.lists(st.tuples(st.none() | st.integers(0, 8), st.none() | st.integers(0, 8)), max_size=15)


@modest
@given(values)
def test_the_pareto_front_is_what_no_other_beats(rows):
    costs, benefits = [c for c, _ in rows], [b for _, b in rows]

    def beaten(i: int) -> bool:
        return any(
            c is not None and b is not None and c <= costs[i] and b >= benefits[i] and (c, b) != rows[i]
            for c, b in rows
        )

    expected = [None not in row and not beaten(i) for i, row in enumerate(rows)]
    assert pareto_front(costs, benefits) == expected


def test_efficiency_is_measured_against_the_reference_on_the_same_machine():
    assert efficiency_index(1029.0, 514.5) == pytest.approx(2)
    assert efficiency_index(None, 100) is efficiency_index(100, None) is None
