"""What a program needs in order to send each query to the cheapest configuration that answers it."""

from collections.abc import Mapping
from typing import Any

from bench.models import BoardConfig
from bench.selectors.board import BoardQuery, board_rows

FIELDS = (
    "config_key",
    "task",
    "model",
    "quantization",
    "engine",
    "engine_version",
    "gpu_class",
    "power_limit_w",
    "clock_lock_mhz",
    "thinking_mode",
    "concurrency",
    "accuracy",
    "accuracy_ci_low",
    "accuracy_ci_high",
    "n_items",
    "joules_per_correct_answer",
    "joules_per_token",
    "pooled_tokens_per_second",
    "ttft_p50_s",
    "peak_gpu_mem_used_mib",
    "tier",
    "verified",
    "energy_source",
    "energy_boundary",
    "n_nodes",
    "methodology_version",
)


def routing_rows(query: BoardQuery) -> list[dict[str, Any]]:
    """Rows of the board in its order, each with the cost model of its configuration or the reason why it has none."""
    rows = board_rows(query)
    costs = BoardConfig.objects.in_bulk({row["config_key"] for row in rows})
    return [routing_row(row, costs[row["config_key"]].payload) for row in rows]


def routing_row(row: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    named = {name: row[name] for name in FIELDS}
    return {**named, "cost_model": config["cost_model"], "cost_model_reason": config["cost_model_reason"]}
