"""longctx_summary: the score is the share of the decisions that a summary names."""

import hashlib

import pytest
from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.tasks.longctx import DECISIONS, LongContextSummary, minutes, recalled
from hypothesis import given
from hypothesis import strategies as st


@given(st.integers(0, 10_000), st.integers(-(2**40), 2**40))
def test_every_decision_stands_once_in_the_minutes(index, seed):
    text, amounts = minutes(index, seed=seed)
    assert len(amounts) == DECISIONS
    for name, amount in amounts.items():
        assert text.count(f"give project {name} {amount} euros") == 1
    assert recalled(amounts, text) == 1.0
    assert 1500 < len(text.split()) < 2400


def test_the_minutes_never_change():
    text, _ = minutes(0, seed=1234)
    assert (
        hashlib.sha256(text.encode()).hexdigest() == "a40a56abf58d95ee31d8c52d19ea04a5869bf36221dae868423cc3df98c67d8c"
    )


@pytest.mark.parametrize(
    ("summary", "score"),
    [
        ("- Oak: 1,200 euros\n- Elm: 350 euros", 1.0),
        ("Oak gets 1200 euros; Elm gets 350.", 1.0),
        ("Oak gets 1200 euros. Elm gets money.", 0.5),
        ("Oak and Elm.\n1200 and 350.", 0.0),
        ("Oak: 12000 euros. Elm: 35 euros.", 0.0),
        ("oak 1 200 euros", 0.5),
        ("Oak: 1’200 euros\nElm: 350.00 euros", 1.0),
        ("Oak: 1200EUR\nElm: EUR350", 1.0),
        ("Oak: 1200\n350 euros for Elm", 1.0),
        ("", 0.0),
    ],
)
def test_a_decision_counts_where_name_and_amount_stand_together(summary, score):
    assert recalled({"Oak": 1200, "Elm": 350}, summary) == score


def test_a_real_summary_that_repeats_the_chatter_scores_nothing():
    task = LongContextSummary()
    [item] = task.items(n=1, seed=1)
    completion = (  # verbatim beginning of SmolLM2-135M-Instruct's (Q4_1) answer to these minutes
        "The sum of the minutes:\n\n1. On the summer course. It was agreed that the matter needs more facts before "
        "anything can be settled. Two letters from neighbours were read out, both friendly, and put in the file."
    )
    assert task.score(item, task.extract(completion), completion) == 0.0


def test_items_are_the_seeds_own_and_have_places():
    task = LongContextSummary()
    items = task.items(n=3, seed=5)
    assert [item.index for item in items] == [0, 1, 2]
    assert items == task.items(n=3, seed=5)
    assert items[0].question != task.items(n=1, seed=6)[0].question
    with pytest.raises(UsageError):
        task.items(n=0, seed=5)
