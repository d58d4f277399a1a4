"""Each gate with a run that passes it and one that a fault or a liar would send."""

from typing import Any

import pytest

from bench.verification import GATES, Evidence, Severity, judge

GATE = {gate.code: gate for gate in GATES}


def evidence(*, run: dict[str, Any] | None = None, figures: dict[str, Any] | None = None, **around: Any) -> Evidence:
    base = {"model": "example-7b", "quantization": "Q4_K_M", "task": "gsm8k", "device": {"kind": "gpu", "count": 1}}
    facts = {"claimed": {}, "has_columns": True, "gpu_class": "RTX 3090", **around}
    return Evidence(run={**base, **(run or {})}, figures=figures or {}, **facts)


PASSING_AND_FAILING: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "recomputed_differs": (
        {"claimed": {"n_correct": 176}, "figures": {"n_correct": 176}},
        {"claimed": {"n_correct": 198}, "figures": {"n_correct": 176}},
    ),
    "drift": (
        {"figures": {"counter_vs_integration_pct_diff": -9.9}},
        {"figures": {"counter_vs_integration_pct_diff": 74.9}},  # counter 187 J, integration 327 J
    ),
    "mean_power": (
        {"figures": {"mean_gpu_w": 280.0}, "run": {"power_limit_w": 350.0}, "idle_w": 30.0},
        {"figures": {"mean_gpu_w": 0.28}, "run": {"power_limit_w": 350.0}, "idle_w": 30.0},  # kW for W
    ),
    "sample_power": (
        {"figures": {"peak_sampled_gpu_w": 500.0}, "run": {"power_limit_w": 350.0}},
        {"figures": {"peak_sampled_gpu_w": 600.0}, "run": {"power_limit_w": 350.0}},
    ),
    "joules_per_token": ({"figures": {"joules_per_token": 1.7}}, {"figures": {"joules_per_token": 1700.0}}),
    "peers": (
        {"figures": {"joules_per_token": 1.7}, "peer_joules_per_token": 2.0},
        {"figures": {"joules_per_token": 0.0017}, "peer_joules_per_token": 2.0},
    ),
    "gpu_not_used": (
        {"figures": {"mean_gpu_util_pct": 0.4, "mean_gpu_mem_used_mib": 900.0}, "empty_memory_mib": 500.0},
        {"figures": {"mean_gpu_util_pct": 0.4, "mean_gpu_mem_used_mib": 500.0}, "empty_memory_mib": 500.0},
    ),
    "speed": (
        {"figures": {"pooled_tokens_per_second": 97.0}},
        {"figures": {"pooled_tokens_per_second": 970.0}},  # 936 GB/s over 3.5 GB of weights: 267 a second
    ),
    "coverage": ({"figures": {"coverage_pct": 96.0}}, {"figures": {"coverage_pct": 60.0}}),  # a laptop slept
    "hole": ({"figures": {"longest_gap_s": 29.0}}, {"figures": {"longest_gap_s": 600.0}}),
    "items_missing": (
        {"figures": {"remainder_j": 2.0, "total_joules_gpu_best": 100.0}},
        {"figures": {"remainder_j": 30.0, "total_joules_gpu_best": 100.0}},
    ),
    "wall_energy": (
        {"figures": {"wall_joules": 130.0, "total_joules_gpu_best": 100.0}},
        {"figures": {"wall_joules": 90.0, "total_joules_gpu_best": 100.0}},
    ),
    "too_good": (
        {"run": {"task": "mmlu_redux"}, "figures": {"accuracy": 0.98}},
        {"run": {"task": "mmlu_redux"}, "figures": {"accuracy": 1.0}},
    ),
    "clock_ahead": ({"ahead_s": 599.0}, {"ahead_s": 601.0}),
    "same_trace": ({"is_replay": False}, {"is_replay": True}),
    "node_seen_elsewhere": ({"is_seen_elsewhere": False}, {"is_seen_elsewhere": True}),
    "repeated_items": ({"run": {"items": {"index": [0, 1, 2]}}}, {"run": {"items": {"index": [7, 7, 7]}}}),
    "energy_present": ({"figures": {"total_joules_gpu_best": 5.0}}, {"claimed": {"total_joules_gpu": 0.0}}),
    "simulated": ({"run": {"energy_source": "counter"}}, {"run": {"energy_source": "simulated"}}),
    "truncated": ({"figures": {"truncated_pct": 29.0}}, {"figures": {"truncated_pct": 47.5}}),
    "throttled": ({"figures": {"thermal_throttle_pct": 0.0}}, {"figures": {"thermal_throttle_pct": 2.1}}),
    "phase_locked": ({"figures": {"phase_lock_r": 0.5}}, {"figures": {"phase_lock_r": 0.93}}),
    "first_item": ({"figures": {"first_item_ratio": 1.4}}, {"figures": {"first_item_ratio": 2.7}}),
    "temperature_drift": ({"figures": {"temperature_drift_c": 5.0}}, {"figures": {"temperature_drift_c": 7.0}}),
    "shared_gpu": ({"figures": {"other_processes": 0}}, {"figures": {"other_processes": 1}}),
    "clock_skew": ({"ahead_s": -86400.0}, {"ahead_s": 61.0}),
    "counter_reset": ({"figures": {"counter_reason": None}}, {"figures": {"counter_reason": "counter_reset"}}),
    "not_rederivable": ({"has_columns": True}, {"has_columns": False}),
    "submitters_word": ({"is_scored_by_server": True}, {"is_scored_by_server": False}),
}
APPLIES_ALWAYS = {
    "clock_ahead",
    "same_trace",
    "node_seen_elsewhere",
    "clock_skew",
    "not_rederivable",
    "simulated",
}


def verdict(code: str, case: dict[str, Any]) -> bool | None:
    (result,) = GATE[code].results(evidence(**case))
    return result.passed


def test_every_gate_has_its_examples():
    assert set(PASSING_AND_FAILING) == set(GATE)


@pytest.mark.parametrize("code", PASSING_AND_FAILING)
def test_a_gate_lets_an_honest_run_through_and_stops_the_other(code):
    honest, other = PASSING_AND_FAILING[code]
    assert (verdict(code, honest), verdict(code, other)) == (True, False)


@pytest.mark.parametrize("code", sorted(set(GATE) - APPLIES_ALWAYS - {"counter_reset", "submitters_word"}))
def test_a_gate_without_its_numbers_does_not_apply(code):
    assert verdict(code, {"run": {"model": "nameless"}, "has_columns": False}) is None


@pytest.mark.parametrize("code", ["drift", "mean_power", "joules_per_token", "speed", "coverage", "wall_energy"])
def test_the_sentence_of_a_gate_that_holds_shows_both_numbers(code):
    (result,) = GATE[code].results(evidence(**PASSING_AND_FAILING[code][1]))
    assert sum(character.isdigit() for character in result.sentence) >= 2
    assert result.observed is not None
    assert result.limit is not None


def test_a_small_model_on_a_big_card_is_not_taken_for_a_cpu_run():
    """A 135 M model draws 3 % above the loaded idle of an H200, and power is never looked at."""
    small = {"figures": {"mean_gpu_util_pct": 17.3, "mean_gpu_w": 129.3, "mean_gpu_mem_used_mib": 1636.0}}
    assert verdict("gpu_not_used", small) is True


def test_a_run_on_a_processor_needs_no_gpu():
    case = {"run": {"device": {"kind": "cpu", "count": 1}}, "figures": {"mean_gpu_util_pct": 0.0}}
    assert verdict("gpu_not_used", case) is None


def test_an_instant_power_field_is_no_average_over_the_limit():
    run = {"power_limit_w": 350.0, "trace": {"power_field": "instant"}}
    assert verdict("sample_power", {"figures": {"peak_sampled_gpu_w": 753.0}, "run": run}) is None


def test_eight_cards_may_draw_eight_times_the_limit():
    run = {"power_limit_w": 350.0, "device": {"kind": "gpu", "count": 8}}
    assert verdict("mean_power", {"figures": {"mean_gpu_w": 2000.0}, "run": run}) is True


@pytest.mark.parametrize(("watts", "passed"), [(0.3, False), (300.0, True), (300_000.0, False)])
def test_without_idle_power_and_limit_a_slip_of_a_thousand_is_seen(watts, passed):
    assert verdict("mean_power", {"figures": {"mean_gpu_w": watts}}) is passed


@pytest.mark.parametrize(("concurrency", "passed"), [(1, True), (2, True), (4, False)])
def test_items_fill_the_stated_concurrency(concurrency, passed):
    figures = {"remainder_j": 0.0, "total_joules_gpu_best": 100.0, "run_duration_s": 10.0}
    items = {"index": [0, 1, 2, 3], "t_start_s": [0, 0, 5, 5], "t_end_s": [5, 5, 10, 10]}
    run = {"concurrency": concurrency, "items": items}
    assert all(result.passed for result in GATE["items_missing"].results(evidence(run=run, figures=figures))) is passed


def test_a_generated_sequence_with_a_number_left_out_is_held():
    energy = {"remainder_j": 0.0, "total_joules_gpu_best": 100.0}
    run = {"task": "arith", "items": {"index": [0, 1, 3]}}
    results = GATE["items_missing"].results(evidence(run=run, figures=energy))
    assert [result.passed for result in results] == [True, False]


def test_a_claim_that_cannot_be_recomputed_is_held():
    case = {"claimed": {"joules_per_correct_answer": 5.0}, "figures": {"joules_per_correct_answer": None}}
    assert verdict("recomputed_differs", case) is False


def test_what_holds_a_run_comes_first_then_its_marks():
    results = judge(evidence(has_columns=False, figures={"truncated_pct": 50.0, "coverage_pct": 10.0}))
    failed = [(result.severity, result.code) for result in results if result.passed is False]
    assert failed[0] == (Severity.QUARANTINE, "coverage")
    assert [severity for severity, _ in failed] == sorted((s for s, _ in failed), key=lambda s: s != "quarantine")
