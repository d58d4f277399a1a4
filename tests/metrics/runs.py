"""Runs as the wire contract has them, recorded or made."""

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

Watts = Callable[[float], float] | float


@lru_cache
def _recording(path: Path) -> dict[str, Any]:
    recording: dict[str, Any] = json.loads((path / "h200_smollm2_trace.json").read_text())
    return recording


def recorded_run(shared_data: Path, dtype: str, task: str, batch: int) -> dict[str, Any]:
    """One of the six H200 runs, its columns rebased as a bundle has them."""
    runs = _recording(shared_data)["runs"]
    found = next(r for r in runs if (r["dtype"], r["task"], r["batch"]) == (dtype, task, batch))
    samples, items = found["samples"], found["items"]
    t0, mj0 = samples[0]["ts"], samples[0]["energy_mj"]
    return {
        "energy_source": "counter",
        "energy_boundary": "gpu_board",
        "concurrency": batch,
        "items": {
            "index": list(range(len(items))),
            "t_start_s": [item["t_start"] - t0 for item in items],
            "t_end_s": [item["t_end"] - t0 for item in items],
            "prompt_tokens": [item["prompt_tokens"] for item in items],
            "completion_tokens": [item["completion_tokens"] for item in items],
            "correct": [float(item["correct"]) for item in items],
            "finish_reason": [item["finish"] for item in items],
        },
        "trace": {
            "t_s": [s["ts"] - t0 for s in samples],
            "gpu_power_w": [s["power_w"] for s in samples],
            "power_field": ["average"] * len(samples),
            "gpu_energy_mj": [s["energy_mj"] - mj0 for s in samples],
            "gpu_util_pct": [s["util"] for s in samples],
            "gpu_mem_used_mib": [s["mem_used_mib"] for s in samples],
            "gpu_temp_c": [s["temp_c"] for s in samples],
            "sm_clock_mhz": [s["sm_mhz"] for s in samples],
            "throttle_mask": [s["throttle"] for s in samples],
        },
    }


def made_run(
    *,
    seconds: float = 60.0,
    period_s: float = 0.2,
    watts: Watts = 280.0,
    lead_s: float = 2.0,
    tail_s: float = 2.0,
    spans: Sequence[tuple[float, float]] | None = None,
    correct: Sequence[float] | None = None,
    prompt_tokens: Sequence[int] | None = None,
    completion_tokens: Sequence[int] | None = None,
    counter: bool = True,
    trace: dict[str, list[Any]] | None = None,
    **run: Any,
) -> dict[str, Any]:
    """A run of equal items (or of `spans`, in s from the first start) under `watts` at time t of the trace."""
    power = watts if callable(watts) else lambda _: watts
    n_samples = round((lead_s + seconds + tail_s) / period_s) + 1
    t_s = [round(i * period_s, 6) for i in range(n_samples)]
    watts_at = [float(power(t)) for t in t_s]
    energy_j = [0.0]
    for i in range(1, n_samples):
        energy_j.append(energy_j[-1] + (watts_at[i] + watts_at[i - 1]) / 2 * (t_s[i] - t_s[i - 1]))
    if spans is None:
        spans = [(i * seconds / 20, (i + 1) * seconds / 20) for i in range(20)]
    n = len(spans)
    columns = {"t_s": t_s, "gpu_power_w": watts_at, "power_field": ["average"] * n_samples}
    columns["gpu_energy_mj"] = [joules * 1e3 for joules in energy_j] if counter else [None] * n_samples
    return {
        "energy_source": "counter",
        "energy_boundary": "gpu_board",
        "items": {
            "index": list(range(n)),
            "t_start_s": [lead_s + start for start, _ in spans],
            "t_end_s": [lead_s + end for _, end in spans],
            "prompt_tokens": list(prompt_tokens or [50] * n),
            "completion_tokens": list(completion_tokens or [40] * n),
            "correct": list(correct if correct is not None else [1.0] * n),
            "finish_reason": ["stop"] * n,
        },
        "trace": columns | (trace or {}),
        **run,
    }


def steps(run: dict[str, Any]) -> range:
    """The indices of a run's samples."""
    return range(len(run["trace"]["t_s"]))
