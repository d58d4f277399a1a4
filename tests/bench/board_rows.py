"""Rows of the board and what they were pooled from, made by hand."""

from typing import Any

from bench import pooling
from bench.settling import Entry

CONFIG = {
    "model": "example-3b",
    "quantization": "Q4_K_M",
    "engine": "llama.cpp",
    "gpu_class": "RTX 3090",
    "energy_boundary": "gpu_board",
    "source_family": "nvml",
    "power_limit_w": None,
    "clock_lock_mhz": None,
    "concurrency": 1,
}


def make_row(**changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "config_key": "0" * 16,
        "task": "gsm8k",
        "model": "example-3b",
        "engine": "llama.cpp",
        "gpu_class": "RTX 3090",
        "concurrency": 1,
        "energy_source": "counter",
        "energy_boundary": "gpu_board",
        "joules_per_correct_answer": 100.0,
        "jpc_ci_low": 90.0,
        "jpc_ci_high": 110.0,
        "joules_per_item": 50.0,
        "joules_per_token": 1.0,
        "accuracy": 0.5,
        "n_items": 100,
        "n_nodes": 1,
        "pooled_tokens_per_second": 50.0,
        "ttft_p50_s": None,
        "peak_gpu_mem_used_mib": 4000.0,
        "gpu_power_cv": 0.2,
        "tier": "C",
        "verified": True,
        "flags": [],
        "run_id": "run-a",
        **pooling.UNSETTLED,
    }
    return {**row, **changes}


def make_machine(machine: str = "a", **changes: Any) -> dict[str, Any]:
    measured = {
        "machine": machine,
        "node": f"node-{machine}",
        "run_id": f"run-{machine}",
        "joules_per_correct_answer": 100.0,
        "joules_per_token": 1.0,
        "pooled_tokens_per_second": 50.0,
        "mean_gpu_w": 300.0,
        "accuracy": 0.5,
        "reference_jpc": None,
        "stock_limit_w": 350.0,
    }
    return {**measured, **changes}


def make_entry(machines: list[dict[str, Any]] | None = None, config: dict[str, Any] | None = None, **row: Any) -> Entry:
    return Entry(make_row(**row), {**CONFIG, **(config or {})}, machines or [make_machine()])
