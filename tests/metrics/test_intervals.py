"""How sure a figure is."""

import random

import numpy as np
import pytest
from asyncenergy_controller.metrics import bootstrap_jpc_interval, widen_between_machines, wilson_interval
from hypothesis import given, settings
from hypothesis import strategies as st

modest = settings(max_examples=40, deadline=None)


def items(n: int, n_correct: int) -> tuple[list[float], list[float]]:
    rng = random.Random(3)
    return [rng.uniform(50, 150) for _ in range(n)], [1.0] * n_correct + [0.0] * (n - n_correct)


def drawn_one_by_one(energy, correct, total_j, seed, draws=2000):
    """The definition, word for word."""
    rng, m = random.Random(seed), len(energy)
    shared = (total_j - sum(energy)) / m
    figures = []
    for _ in range(draws):
        picks = [rng.randrange(m) for _ in range(m)]
        n_correct = round(sum(correct[i] for i in picks))
        if n_correct:
            figures.append(sum(energy[i] + shared for i in picks) / n_correct)
    return np.percentile(figures, [2.5, 97.5]).tolist()


def test_wilson_of_the_recorded_run():
    assert wilson_interval(7, 40) == (pytest.approx(0.0875, abs=5e-5), pytest.approx(0.3195, abs=5e-5))


def test_wilson_of_none_and_of_all():
    assert wilson_interval(0, 15)[0] == 0.0
    assert wilson_interval(15, 15)[1] == 1.0


def test_wilson_takes_part_scores():
    assert wilson_interval(2, 10)[0] < wilson_interval(2.5, 10)[0] < wilson_interval(3, 10)[0]


@pytest.mark.parametrize(("n_correct", "n"), [(0, 0), (5, 4), (-1, 4), (float("nan"), 4), (0, -1)])
def test_wilson_refuses_what_is_no_share(n_correct, n):
    with pytest.raises(ValueError, match=r"at least one item|n_correct must be"):
        wilson_interval(n_correct, n)


@modest
@given(st.integers(1, 10_000), st.floats(0, 1))
def test_wilson_holds_the_share_and_stays_within_0_and_1(n, share):
    low, high = wilson_interval(share * n, n)
    assert 0 <= low <= share * n / n <= high <= 1
    assert low < high


@modest
@given(st.integers(1, 200), st.data())
def test_wilson_is_the_same_seen_from_the_other_side(n, data):
    k = data.draw(st.integers(0, n))
    low, high = wilson_interval(k, n)
    assert wilson_interval(n - k, n) == (pytest.approx(1 - high), pytest.approx(1 - low))


@pytest.mark.parametrize(("n", "n_correct"), [(60, 20), (61, 20), (450, 90)])
def test_the_bootstrap_does_what_its_definition_says(n, n_correct):
    energy, correct = items(n, n_correct)
    total = sum(energy) + 500
    assert bootstrap_jpc_interval(energy, correct, total, seed=1) == pytest.approx(
        drawn_one_by_one(energy, correct, total, seed=1), rel=0.05
    )


def test_a_part_score_counts_as_in_the_headline():
    energy = [100.0] * 12
    correct = [0.5] * 5 + [0.0] * 7
    # k of the five drawn score round(k / 2): 1 from two of them (0.5 rounds to 0), 4 from eight or nine.
    assert bootstrap_jpc_interval(energy, correct, 1200, seed=1) == (300, 1200)
    assert bootstrap_jpc_interval(energy, [0.5] * 12, 1200, seed=1) == (200, 200)


def test_energy_and_score_are_drawn_together():
    energy, correct = [10.0] * 20 + [1000.0] * 20, [0.0] * 20 + [1.0] * 20
    low, high = bootstrap_jpc_interval(energy, correct, sum(energy), seed=5)
    # Each right answer brings its own 1000 J: drawn apart, the interval would reach far below.
    assert low > 1000
    assert high < 1040


def test_what_fell_between_items_is_spread_over_them():
    energy, correct = items(40, 40)
    low, high = bootstrap_jpc_interval(energy, correct, sum(energy), seed=2)
    shifted = bootstrap_jpc_interval(energy, correct, sum(energy) + 400, seed=2)
    assert shifted == (pytest.approx(low + 10), pytest.approx(high + 10))


def test_an_item_without_energy_or_score_is_not_drawn():
    energy, correct = items(20, 10)
    holed = bootstrap_jpc_interval([*energy, None, 9e9], [*correct, 1.0, None], 2500, seed=4)
    assert holed == bootstrap_jpc_interval(energy, correct, 2500, seed=4)


def test_the_interval_is_withheld_under_ten_items():
    energy, correct = items(9, 9)
    assert bootstrap_jpc_interval(energy, correct, sum(energy), seed=1) is None
    assert bootstrap_jpc_interval([*energy, 1.0], [*correct, 1.0], sum(energy), seed=1) is not None
    assert bootstrap_jpc_interval([], [], 0.0, seed=1) is None


def test_the_interval_is_withheld_when_over_5_pct_of_draws_have_no_answer():
    energy, _ = items(40, 0)
    # (1 - k/40)^40: 12.9 % of draws without an answer for two right ones, 4.5 % for three.
    assert bootstrap_jpc_interval(energy, items(40, 2)[1], 4000, seed=1) is None
    assert bootstrap_jpc_interval(energy, items(40, 3)[1], 4000, seed=1) is not None
    assert bootstrap_jpc_interval(energy, items(40, 0)[1], 4000, seed=1) is None


def test_without_a_total_there_is_no_interval():
    assert bootstrap_jpc_interval(*items(40, 20), None, seed=1) is None


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="one length"):
        bootstrap_jpc_interval([1.0] * 10, [1.0] * 9, 10, seed=1)
    with pytest.raises(ValueError, match="draws must be at least 1, got 0"):
        bootstrap_jpc_interval([1.0] * 10, [1.0] * 10, 10, seed=1, draws=0)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.integers(10, 60), st.data())
def test_a_seed_gives_one_interval_and_energy_scales_it(seed, n, data):
    energy, correct = items(n, data.draw(st.integers(n // 2, n)))
    total = sum(energy) * 1.1
    low, high = bootstrap_jpc_interval(energy, correct, total, seed=seed, draws=500)
    assert bootstrap_jpc_interval(energy, correct, total, seed=seed, draws=500) == (low, high)
    assert low <= high
    tenfold = bootstrap_jpc_interval([10 * e for e in energy], correct, 10 * total, seed=seed, draws=500)
    assert tenfold == (pytest.approx(10 * low), pytest.approx(10 * high))


def test_between_machines_the_gain_error_is_added_in_quadrature():
    assert widen_between_machines(100, 97, 112) == (pytest.approx(100 - 34**0.5), pytest.approx(113))
    assert widen_between_machines(100, 90, 110, gain=0) == (90, 110)
