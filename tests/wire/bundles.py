"""Small bundles as a controller would send them."""

from typing import Any

NODE = "a" * 64
NOW = "2026-08-20T09:00:00+00:00"


def make_items(n: int = 12, *, seconds: float = 1.0, right: int = 6) -> dict[str, Any]:
    return {
        "index": list(range(n)),
        "t_start_s": [2.0 + i * seconds for i in range(n)],
        "t_end_s": [2.0 + (i + 0.9) * seconds for i in range(n)],
        "prompt_tokens": [50] * n,
        "completion_tokens": [40] * n,
        "correct": [1.0 if i < right else 0.0 for i in range(n)],
        "finish_reason": ["stop"] * n,
    }


def make_trace(duration_s: float = 16.0, *, watts: float = 100.0, period_s: float = 0.2) -> dict[str, Any]:
    t_s = [round(i * period_s, 6) for i in range(round(duration_s / period_s) + 1)]
    return {
        "t_s": t_s,
        "gpu_power_w": [watts] * len(t_s),
        "power_field": "average",
        "gpu_energy_mj": [watts * t * 1000 for t in t_s],
        "gpu_util_pct": [50.0] * len(t_s),
        "gpu_mem_used_mib": [2000.0] * len(t_s),
        "gpu_temp_c": [50.0] * len(t_s),
        "sm_clock_mhz": [1500.0] * len(t_s),
        "throttle_mask": [0] * len(t_s),
    }


def make_run(**changes: Any) -> dict[str, Any]:
    run: dict[str, Any] = {
        "schema_version": "4",
        "methodology_version": "3",
        "node_hash": NODE,
        "created_at": NOW,
        "engine": "llama.cpp",
        "engine_version": "b1000",
        "gpu_name": "NVIDIA GeForce RTX 3090",
        "model": "example-3b",
        "quantization": "Q4_K_M",
        "device": {"kind": "gpu", "count": 1},
        "energy_boundary": "gpu_board",
        "energy_source": "counter",
        "weights": {"repo": "example/example-3b", "revision": None, "digest": None},
        "concurrency": 1,
        "temperature": 0.0,
        "max_tokens": 128,
        "seed": 1234,
        "n_shot": 2,
        "task": "gsm8k",
        "settings": {"prefix_cache": "off"},
        "sensor": {},
        "ledger": [],
        "items": make_items(),
        "trace": make_trace(),
    }
    return {**run, **changes}


def make_bundle(*runs: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"schema_version": "3", "generated_at": NOW, "suite": "run", "runs": list(runs) or [make_run()], **changes}


def make_v2_run(**changes: Any) -> dict[str, Any]:
    run: dict[str, Any] = {
        "node_hash": NODE,
        "schema_version": "4",
        "engine": "llama.cpp",
        "model": "qwen3.5-9b",
        "measurement_tier": "C",
        "run_duration_s": 300.0,
        "repeat_index": 0,
        "created_at": NOW,
        "task": "gsm8k_platinum",
        "gpu_name": "NVIDIA GeForce RTX 3090",
        "n_items": 100,
        "n_correct": 81,
        "total_joules_gpu_best": 83_348.0,
        "energy_source": "counter",
    }
    return {**run, **changes}


def make_v2_bundle(*runs: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"schema_version": "2", "generated_at": NOW, "runs": list(runs) or [make_v2_run()], **changes}
