"""Figures of runs that came as totals only (bundle versions 1 and 2). Pure: no Django, no I/O.

Ratios are divided here, never taken over; what the totals don't give is None with a reason.
"""

from collections.abc import Mapping
from typing import Any

from asyncenergy_controller.metrics import wilson_interval

# figures that only the submitter could measure, taken as they are and marked as claimed
_TAKEN = (
    "run_duration_s",
    "total_completion_tokens",
    "total_joules_gpu",
    "total_joules_gpu_counter",
    "counter_vs_integration_pct_diff",
    "mean_tokens_per_second",
    "ttft_p50_s",
    "ttft_p95_s",
    "itl_mean_ms",
    "itl_p95_ms",
    "peak_gpu_w",
    "gpu_temp_c_start",
    "gpu_temp_c_end",
    "peak_gpu_temp_c",
    "mean_gpu_temp_c",
    "peak_gpu_mem_used_mib",
    "mean_gpu_mem_used_mib",
    "mean_gpu_util_pct",
    "mean_gpu_sm_clock_mhz",
    "thermal_throttle_pct",
    "power_cap_throttle_pct",
    "mean_wall_w",
    "peak_wall_w",
    "node_overhead_ratio",
    "gpu_power_std_w",
    "gpu_power_cv",
    "gpu_power_crest_factor",
    "gpu_power_p95_p50_ratio",
    "gpu_power_jaggedness_w_per_s",
)

_COSTS = ("e_fixed_j", "alpha_j_per_prompt_token", "beta_j_per_completion_token", "costmodel_r2", "costmodel_n")


def figures_of_totals(run: Mapping[str, Any]) -> dict[str, Any]:
    """By wire name, in the units of the wire."""
    taken = {name: run.get(name) for name in _TAKEN}
    energy_j = _energy_j(run)
    n_items, n_correct = run.get("n_items"), _rounded(run.get("n_correct"))
    headline = _ratio(energy_j, n_correct)
    return {
        **taken,
        **_interval(run, headline),
        **_accuracy(n_items, n_correct),
        "n_items": n_items,
        "n_correct": n_correct,
        "total_joules_gpu_best": energy_j,
        "energy_reason": None if energy_j is not None else "not_in_totals",
        "energy_source": run.get("energy_source"),
        "joules_per_correct_answer": headline,
        "joules_per_item": _ratio(energy_j, n_items),
        "joules_per_token": _ratio(energy_j, run.get("total_completion_tokens")),
        "pooled_tokens_per_second": _ratio(run.get("total_completion_tokens"), run["run_duration_s"]),
        "mean_gpu_w": _ratio(energy_j, run["run_duration_s"]),
        "temperature_drift_c": _difference(run.get("gpu_temp_c_end"), run.get("gpu_temp_c_start")),
        "claimed_costs": {name: run.get(name) for name in _COSTS if run.get(name) is not None},
        "tier": None,
        "tier_reasons": ["sent as totals only: no tier can be derived"],
    }


def _energy_j(run: Mapping[str, Any]) -> float | None:
    """The best total that was sent; 0 J is a meter that read nothing, never a measurement."""
    sent = (run.get(f"total_joules_gpu{which}") for which in ("_best", "_counter", ""))
    return next((float(joules) for joules in sent if joules), None)


def _accuracy(n_items: int | None, n_correct: int | None) -> dict[str, float | None]:
    if not n_items or n_correct is None:
        return {"accuracy": None, "accuracy_ci_low": None, "accuracy_ci_high": None}
    low, high = wilson_interval(n_correct, n_items)
    return {"accuracy": n_correct / n_items, "accuracy_ci_low": low, "accuracy_ci_high": high}


def _interval(run: Mapping[str, Any], headline: float | None) -> dict[str, Any]:
    """The claimed interval of the headline, if it holds the headline at all."""
    low, high = run.get("jpc_ci_low"), run.get("jpc_ci_high")
    if headline is None or low is None or high is None or not low <= headline <= high:
        return {"jpc_ci_low": None, "jpc_ci_high": None, "jpc_ci_reason": "not_in_totals"}
    return {"jpc_ci_low": low, "jpc_ci_high": high, "jpc_ci_reason": None}


def _rounded(count: float | None) -> int | None:
    return None if count is None else round(count)


def _ratio(numerator: float | None, denominator: float | None) -> float | None:
    return None if numerator is None or not denominator else numerator / denominator


def _difference(end: float | None, start: float | None) -> float | None:
    return None if end is None or start is None else end - start
