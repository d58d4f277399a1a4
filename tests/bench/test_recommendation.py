"""Which configuration to run: the formulas, the order, and the reasons."""

from typing import Any

import numpy as np
import pytest
from asyncenergy_controller.metrics import CostItems
from hypothesis import given
from hypothesis import strategies as st

from bench.costs import claimed_costs, config_costs, of_payload
from bench.recommendation import Candidate, Wish, recommend
from tests.bench.board_rows import make_row


def items(e_fixed: float, alpha: float, beta: float, n: int = 40) -> CostItems:
    rng = np.random.default_rng(7)
    prompt, completion = rng.integers(20, 400, n).astype(float), rng.integers(10, 200, n).astype(float)
    return CostItems(prompt, completion, e_fixed + alpha * prompt + beta * completion)


def model(e_fixed: float = 10.0, alpha: float = 0.05, beta: float = 0.5) -> dict[str, Any]:
    found: dict[str, Any] = config_costs({("1", "node-a"): [items(e_fixed, alpha, beta)]})["cost_model"]
    return found


def candidate(key: str = "a", *, cost: dict[str, Any] | None = None, **row: Any) -> Candidate:
    return Candidate(make_row(config_key=key, **row), cost, None if cost else "too_few_items")


def keys(answer: dict[str, Any]) -> list[str]:
    return [result["config_key"] for result in answer["results"]]


# Predictions


def test_energy_is_the_cost_of_an_item_of_the_shape_over_the_share_of_right_ones():
    (result,) = recommend(
        [candidate(cost=model(10.0, 0.05, 0.5), accuracy=0.8)], Wish(prompt_tokens=200, output_tokens=100)
    )["results"]
    assert result["predicted_j"] == pytest.approx((10 + 0.05 * 200 + 0.5 * 100) / 0.8, rel=1e-3)
    assert result["predicted_j_low"] < result["predicted_j"] < result["predicted_j_high"]


def test_speed_is_the_first_token_and_then_the_answer():
    wish = Wish(objective="speed", prompt_tokens=200, output_tokens=100)
    (result,) = recommend([candidate(ttft_p50_s=0.5, pooled_tokens_per_second=50.0)], wish)["results"]
    assert result["predicted_s"] == pytest.approx(0.5 + 2.0)
    assert result["score"] == result["predicted_s"]


@pytest.mark.parametrize("told", [{"prompt_tokens": 200.0}, {"output_tokens": 100.0}])
@pytest.mark.parametrize("objective", ["speed", "balanced"])
def test_time_takes_the_same_shape_as_energy_where_one_count_is_told(objective, told):
    cost = model()
    measured = {"prompt_tokens": cost["mean_prompt_tokens"], "output_tokens": cost["mean_completion_tokens"]}
    one = [candidate(cost=cost, ttft_p50_s=0.5)]
    (result,) = recommend(one, Wish(objective, **told))["results"]
    (whole,) = recommend(one, Wish(objective, **(measured | told)))["results"]
    assert result["score"] is not None
    assert [result[name] for name in ("predicted_j", "predicted_s")] == [whole["predicted_j"], whole["predicted_s"]]


def test_time_takes_the_length_measured_on_the_task_where_no_fit_tells_it():
    (result,) = recommend([candidate(pooled_tokens_per_second=10.0)], Wish("speed", prompt_tokens=200))["results"]
    assert (result["predicted_j"], result["predicted_s"]) == (None, 5.0)  # 50 J an item at 1 J a token


def test_a_claimed_fit_of_unknown_length_is_not_asked_about_half_a_shape():
    claims = {"e_fixed_j": 5.0, "alpha_j_per_prompt_token": 0.1, "beta_j_per_completion_token": 0.4}
    one = candidate(cost=claimed_costs(claims)["cost_model"], verified=False)
    (result,) = recommend([one], Wish(output_tokens=100))["results"]
    assert (result["predicted_j"], result["predicted_s"]) == (None, 2.0)
    assert "give both token counts" in result["why"][1]


@pytest.mark.parametrize(("concurrency", "expected_s"), [(1, 0.1 + 0.05), (16, 0.1 + 0.8), (None, 0.1 + 0.05)])
def test_one_answer_has_its_share_of_the_speed_of_all_in_flight(concurrency, expected_s):
    row = {"pooled_tokens_per_second": 1600.0, "ttft_p50_s": 0.1, "concurrency": concurrency}
    (result,) = recommend([candidate(**row)], Wish("speed", prompt_tokens=60, output_tokens=80))["results"]
    assert result["predicted_s"] == pytest.approx(expected_s)


def test_balanced_is_the_geometric_mean_of_both_against_the_best():
    wish = Wish(objective="balanced")
    slow = candidate("slow", joules_per_correct_answer=100.0, pooled_tokens_per_second=10.0)
    hungry = candidate("hungry", joules_per_correct_answer=200.0, pooled_tokens_per_second=90.0)
    answer = recommend([slow, hungry], wish)
    assert keys(answer) == ["hungry", "slow"]
    assert [result["score"] for result in answer["results"]] == pytest.approx([2**0.5, 3.0])


def test_without_a_shape_the_measured_headline_counts():
    (result,) = recommend([candidate()], Wish(price_per_kwh=0.36))["results"]
    assert result["predicted_j"] == 100.0
    assert result["predicted_cost"] == pytest.approx(100 / 3.6e6 * 0.36)


def test_a_shape_without_a_cost_model_is_not_predicted_and_comes_last_with_its_reason():
    answer = recommend([candidate("bare"), candidate("known", cost=model())], Wish(prompt_tokens=100, output_tokens=50))
    assert keys(answer) == ["known", "bare"]
    bare = answer["results"][1]
    assert (bare["predicted_j"], bare["score"]) == (None, None)
    assert "too few items" in " ".join(bare["why"])


@pytest.mark.parametrize(("tokens", "expected"), [(100, False), (5000, True)])
def test_a_shape_far_outside_the_fit_says_so(tokens, expected):
    (result,) = recommend([candidate(cost=model())], Wish(prompt_tokens=tokens, output_tokens=100))["results"]
    assert result["extrapolated"] is expected
    assert any("outside twice the range" in word for word in result["why"]) is expected


# What fits


@pytest.mark.parametrize(
    "wish",
    [
        Wish(gpu_class="H200"),
        Wish(min_accuracy=0.6),
        Wish(max_vram_gb=4.0),  # 4000 MiB are 4.2 GB
        Wish(tier="AB"),
        Wish(task="arith"),
    ],
)
def test_what_does_not_satisfy_the_wish_is_left_out(wish):
    assert recommend([candidate()], wish)["results"] == []


def test_unknown_memory_fits_in_no_limit():
    assert recommend([candidate(peak_gpu_mem_used_mib=None)], Wish(max_vram_gb=80.0))["results"] == []


def test_without_a_task_the_commonest_one_is_answered():
    rows = [candidate("a", task="arith"), candidate("b"), candidate("c")]
    answer = recommend(rows, Wish())
    assert (answer["task"], keys(answer)) == ("gsm8k", ["b", "c"])


def test_claims_stand_below_everything_that_is_verified():
    answer = recommend([candidate("claim", verified=False, joules_per_correct_answer=1.0), candidate("real")], Wish())
    assert keys(answer) == ["real", "claim"]
    assert "Claimed by its submitter" in " ".join(answer["results"][1]["why"])


def test_a_runner_up_whose_interval_overlaps_is_tied_with_the_best():
    near = candidate("near", joules_per_correct_answer=105.0, jpc_ci_low=95.0, jpc_ci_high=115.0)
    far = candidate("far", joules_per_correct_answer=200.0, jpc_ci_low=180.0, jpc_ci_high=220.0)
    answer = recommend([far, near, candidate("best")], Wish())
    assert [result["tied_with_best"] for result in answer["results"]] == [False, True, False]


@pytest.mark.parametrize("other", [{"energy_boundary": "wall"}, {"energy_source": "rapl"}])
def test_energy_of_another_kind_is_never_tied_with_the_best_and_says_why(other):
    near = candidate("near", joules_per_correct_answer=105.0, jpc_ci_low=95.0, jpc_ci_high=115.0, **other)
    _, second = recommend([near, candidate("best")], Wish())["results"]
    assert not second["tied_with_best"]
    assert "can't be compared with the best's" in " ".join(second["why"])


@given(st.lists(st.tuples(st.floats(1, 1e4), st.floats(0.01, 1), st.booleans()), max_size=8))
def test_the_score_rises_down_the_list_and_every_place_has_its_reasons(figures):
    rows = [
        candidate(str(i), joules_per_correct_answer=j, jpc_ci_low=j, jpc_ci_high=j, accuracy=a, verified=v)
        for i, (j, a, v) in enumerate(figures)
    ]
    results = recommend(rows, Wish())["results"]
    for verified in (True, False):
        scores = [result["score"] for result in results if result["verified"] is verified]
        assert scores == sorted(scores)
    assert all(len(result["why"]) >= 3 for result in results)


# Cost models of a configuration


def test_each_machine_is_fitted_alone_and_of_two_the_worse_is_shown():
    found = config_costs({("1", "node-a"): [items(10, 0.05, 0.5)], ("2", "node-b"): [items(20, 0.05, 1.0)]})
    shown = found["cost_model"]
    assert (shown["node"], shown["n_machines"], shown["claimed"]) == ("node-b", 2, False)
    assert shown["beta_j_per_completion_token"] == pytest.approx(1.0, rel=1e-3)
    assert shown["mean_item_j_min"] < shown["mean_item_j_max"] == shown["mean_item_j"]
    assert [one["node"] for one in found["machine_costs"]] == ["node-a", "node-b"]


def test_runs_of_one_machine_are_fitted_together():
    found = config_costs({("1", "a"): [items(10, 0.05, 0.5, n=10), items(10, 0.05, 0.5, n=10)]})
    assert found["cost_model"]["n"] == 20


def test_too_few_items_withhold_the_model():
    found = config_costs({("1", "a"): [items(10, 0.05, 0.5, n=14)]})
    assert (found["cost_model"], found["cost_model_reason"]) == (None, "too_few_items")


def test_claimed_coefficients_are_shown_as_claimed():
    claims = {
        "e_fixed_j": 5.0, "alpha_j_per_prompt_token": 0.1, "beta_j_per_completion_token": 0.4, "costmodel_r2": 0.9
    }  # fmt: skip
    found = claimed_costs(claims)["cost_model"]
    assert (found["claimed"], found["e_fixed_j"], found["r2"]) == (True, 5.0, 0.9)
    assert of_payload(found).predict_j(10, 10) == pytest.approx(10.0)
    assert claimed_costs({"e_fixed_j": 5.0})["cost_model"] is None


def test_a_stored_model_predicts_as_the_fitted_one():
    stored = model(12.0, 0.03, 0.7)
    assert of_payload(stored).predict_j(stored["mean_prompt_tokens"], stored["mean_completion_tokens"]) == (
        pytest.approx(stored["mean_item_j"])
    )
