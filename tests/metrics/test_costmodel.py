"""Joules of an item out of its token counts."""

import numpy as np
import pytest
from asyncenergy_controller.metrics import fit_cost_model
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import least_squares


def items(n: int, *, e_fixed=30.0, alpha=0.05, beta=0.9, noise=0.0, seed=1):
    rng = np.random.default_rng(seed)
    prompt, completion = rng.integers(50, 900, n), rng.integers(20, 600, n)
    return prompt, completion, e_fixed + alpha * prompt + beta * completion + rng.normal(0, noise, n)


def coefficients(model) -> tuple[float, float, float]:
    return model.e_fixed_j, model.alpha_j_per_prompt_token, model.beta_j_per_completion_token


@settings(max_examples=30, deadline=None)
@given(st.floats(1, 500), st.floats(0.01, 2), st.floats(0.01, 5), st.integers(15, 80))
def test_an_exact_cost_is_found_again(e_fixed, alpha, beta, n):
    model = fit_cost_model(*items(n, e_fixed=e_fixed, alpha=alpha, beta=beta))
    assert coefficients(model) == pytest.approx((e_fixed, alpha, beta), rel=1e-4)
    assert model.r2 == pytest.approx(1)
    assert model.n == n


def test_outliers_do_not_move_the_fit_far():
    prompt, completion, energy = items(60, noise=2)
    energy[[3, 17, 40]] *= 8
    assert coefficients(fit_cost_model(prompt, completion, energy)) == pytest.approx((30, 0.05, 0.9), rel=0.2)


def test_no_coefficient_is_negative_and_one_at_its_bound_has_no_error():
    model = fit_cost_model(*items(60, alpha=-0.2, noise=5))
    assert model.alpha_j_per_prompt_token == 0.0
    assert model.alpha_se is None
    assert model.beta_se > 0


def test_the_standard_errors_are_those_of_refitting_resampled_items():
    prompt, completion, energy = items(40, noise=15)
    model = fit_cost_model(prompt, completion, energy)
    design = np.column_stack((np.ones(40), prompt, completion))
    scale = 1.4826 * np.median(np.abs(energy - design @ coefficients(model)))
    rng, fits = np.random.default_rng(99), []
    for _ in range(200):
        rows = rng.integers(0, 40, 40)
        fits.append(
            least_squares(
                lambda x, rows=rows: design[rows] @ x - energy[rows],
                coefficients(model),
                jac=lambda x, rows=rows: design[rows],
                bounds=(0, np.inf),
                loss="soft_l1",
                f_scale=scale,
                x_scale=(10, 0.1, 0.1),
            ).x
        )
    assert (model.e_fixed_se_j, model.alpha_se, model.beta_se) == pytest.approx(np.std(fits, axis=0, ddof=1), rel=0.25)


def test_the_fit_and_its_errors_are_the_same_every_time():
    assert fit_cost_model(*items(40, noise=9)) == fit_cost_model(*items(40, noise=9))


def test_fifteen_items_are_needed_and_missing_values_do_not_count():
    prompt, completion, energy = (list(column) for column in items(15))
    assert fit_cost_model(prompt, completion, energy) is not None
    assert fit_cost_model(prompt[:14], completion[:14], energy[:14]) is None
    assert fit_cost_model(prompt, completion, [None, *energy[1:]]) is None
    assert fit_cost_model([], [], []) is None


def test_counts_that_hardly_vary_give_no_model():
    prompt, completion, energy = items(40)
    assert fit_cost_model(np.full(40, 57), completion, energy) is None
    assert fit_cost_model(completion * 2, completion, energy) is None
    assert fit_cost_model(np.zeros(40), completion, energy) is None


def test_columns_must_have_one_length():
    with pytest.raises(ValueError, match="one length"):
        fit_cost_model([1, 2], [1], [1])


def test_a_prediction_says_when_it_leaves_the_measured_range():
    model = fit_cost_model([100, 200] * 10, [10, 10, 40, 40] * 5, [1, 2, 3, 4.5] * 5)
    assert model.prompt_token_range == (100, 200)
    assert not model.extrapolates(50, 80)
    assert model.extrapolates(49, 40)
    assert model.extrapolates(150, 81)
    assert model.predict_j(100, 10) == pytest.approx(
        model.e_fixed_j + 100 * model.alpha_j_per_prompt_token + 10 * model.beta_j_per_completion_token
    )


def test_items_of_one_energy_have_no_r2():
    prompt, completion, _ = items(20)
    assert fit_cost_model(prompt, completion, [5.0] * 20).r2 is None
