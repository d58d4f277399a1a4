"""The arithmetic of rows: medians, distinct items, shared ranks."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.pooling import Measured, median, row, standings

VALUES = st.one_of(st.none(), st.floats(0.01, 1e6))


def run(value: float | None, machine: str = "a", **changes: Any) -> Measured:
    facts: dict[str, Any] = {
        "run_id": f"run-{machine}-{value}",
        "machine": machine,
        "node": machine,
        "suite": "run",
        "account": machine,
        "is_counted": True,
        "config_key": "0" * 16,
        "config": {},
        "task": "arith",
        "methodology": "3",
        "verified": True,
        "tier": "C",
        "correctness_word": "server",
        "figures": {"joules_per_correct_answer": value},
        "stock_limit_w": None,
        "marks": [],
        "received": "2026-08-20T09:00:00+00:00",
        "updated": "2026-08-20T09:00:00+00:00",
    }
    return Measured(**{**facts, **changes})


def shown(value: float | None, low: float | None, high: float | None, *, verified: bool = True) -> dict[str, Any]:
    return {"joules_per_correct_answer": value, "jpc_ci_low": low, "jpc_ci_high": high, "verified": verified}


def test_of_two_the_worse():
    assert median([run(90.0), run(110.0)]).value == 110.0


def test_a_run_without_a_headline_is_worse_than_any():
    assert median([run(90.0), run(None)]).value is None


@given(st.lists(VALUES, min_size=1, max_size=7), st.randoms())
@settings(max_examples=60)
def test_the_order_of_arrival_changes_nothing(values, random):
    runs = [run(value, machine=str(i % 3), run_id=str(i)) for i, value in enumerate(values)]
    before = row(runs)
    random.shuffle(runs)
    assert row(runs) == before


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=9))
@settings(max_examples=60)
def test_the_shown_value_is_one_that_was_measured_and_lies_in_the_spread(values):
    found = row([run(value, machine=str(i), run_id=str(i)) for i, value in enumerate(values)])
    assert found["joules_per_correct_answer"] in values
    assert found["jpc_min"] <= found["joules_per_correct_answer"] <= found["jpc_max"]


@given(st.lists(st.tuples(st.floats(1, 1000), st.floats(0, 0.5), st.booleans()), max_size=12))
@settings(max_examples=60)
def test_rank_follows_the_shown_value(rows):
    drawn = [shown(value, value * (1 - half), value * (1 + half), verified=v) for value, half, v in rows]
    found = sorted(zip([d["joules_per_correct_answer"] for d in drawn], standings(drawn), strict=True))
    ranks = [rank for _, (rank, _) in found]
    assert ranks == sorted(ranks)
    by_place = sorted(found, key=lambda entry: entry[1][1])
    assert [rank for _, (rank, _) in by_place] == ranks


def test_neighbours_that_overlap_the_leader_share_its_rank():
    drawn = [shown(10, 9, 11), shown(10.5, 10, 12), shown(11.5, 11.2, 13), shown(50, None, None)]
    assert [rank for rank, _ in standings(drawn)] == [1, 1, 3, None]


@pytest.mark.parametrize(("counted", "expected"), [(True, 2), (False, 1)])
def test_machines_that_do_not_count_stand_in_nodes_only(counted, expected):
    found = row([run(90.0, "a"), run(91.0, "b", is_counted=counted)])
    assert (found["n_nodes"], found["n_unique_submitters"]) == (2, expected)
