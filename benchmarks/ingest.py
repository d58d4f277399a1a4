"""What taking in a version-3 bundle costs, beside reading the same bytes with `json.loads`.

A bundle of 4 runs of 7,500 samples and 100 items each goes through the ingest service: read, checked, every figure
derived again, judged and stored. Both are timed on the same bytes, in turn.

    python -m benchmarks.ingest
"""

import json
import random
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks.site import fresh_site

RUNS, SAMPLES, ITEMS = 4, 7500, 100
PERIOD_S = 0.2
LIMIT = 6.0
ROUNDS = 12


def make_bundle(seed: int, *, runs: int = RUNS, samples: int = SAMPLES, items: int = ITEMS) -> dict[str, Any]:
    """A bundle as a controller sends it, unlike any of another seed."""
    rng = random.Random(seed)  # noqa: S311  # made-up measurements, no secrets
    made = [_run(rng, samples, items) for _ in range(runs)]
    return {"schema_version": "3", "generated_at": "2026-08-20T09:00:00+00:00", "suite": "run", "runs": made}


def _run(rng: random.Random, samples: int, items: int) -> dict[str, Any]:
    return {
        "schema_version": "4",
        "methodology_version": "3",
        "node_hash": "b" * 64,
        "created_at": "2026-08-20T09:00:00+00:00",
        "engine": "llama.cpp",
        "engine_version": "b1000",
        "gpu_name": "NVIDIA GeForce RTX 3090",
        "model": "example-3b",
        "quantization": "Q4_K_M",
        "device": {"kind": "gpu", "count": 1},
        "energy_boundary": "gpu_board",
        "energy_source": "counter",
        "concurrency": 1,
        "max_tokens": 128,
        "seed": rng.randrange(2**31),
        "task": "gsm8k",
        "settings": {"prefix_cache": "off"},
        "items": _items(rng, items, samples * PERIOD_S),
        "trace": _trace(rng, samples),
    }


def _items(rng: random.Random, n: int, duration_s: float) -> dict[str, Any]:
    step_s = (duration_s - 6) / n
    return {
        "index": list(range(n)),
        "t_start_s": [round(3 + i * step_s, 6) for i in range(n)],
        "t_end_s": [round(3 + (i + rng.uniform(0.7, 0.99)) * step_s, 6) for i in range(n)],
        "prompt_tokens": [rng.randrange(50, 300) for _ in range(n)],
        "completion_tokens": [rng.randrange(20, 128) for _ in range(n)],
        "correct": [float(rng.random() < 0.7) for _ in range(n)],
        "finish_reason": ["stop"] * n,
    }


def _trace(rng: random.Random, n: int) -> dict[str, Any]:
    times = [0.0, *(round(i * PERIOD_S + rng.uniform(-0.002, 0.002), 6) for i in range(1, n))]
    watts = [round(rng.gauss(250, 15), 3) for _ in times]
    counter, energy_mj = 0.0, []
    for before, now, power in zip([0.0, *times], times, watts, strict=False):
        counter += power * (now - before) * 1000
        energy_mj.append(round(counter))
    return {
        "t_s": times,
        "gpu_power_w": watts,
        "power_field": "average",
        "gpu_energy_mj": energy_mj,
        "gpu_util_pct": [float(rng.randrange(80, 101)) for _ in times],
        "gpu_mem_used_mib": [round(8000 + rng.random() * 10, 1) for _ in times],
        "gpu_temp_c": [float(rng.randrange(60, 65)) for _ in times],
        "sm_clock_mhz": [float(rng.choice((1695, 1710, 1725))) for _ in times],
        "throttle_mask": [rng.choice((0, 4)) for _ in times],
    }


def timed_s(call: Callable[..., Any], **arguments: Any) -> float:
    start = time.perf_counter()
    call(**arguments)
    return time.perf_counter() - start


def ratios(rounds: int = ROUNDS) -> list[float]:
    """Ingest over `json.loads`, one for each round, the reading timed just before and just after."""
    from accounts.models import User
    from bench.services import submission_ingest

    account, found = User.objects.create_user("benchmark@example.org", None), []
    for seed in range(rounds + 1):
        raw = json.dumps(make_bundle(seed)).encode()
        before_s = timed_s(json.loads, s=raw)
        ingest_s = timed_s(submission_ingest, account=account, raw=raw)
        found.append(2 * ingest_s / (before_s + timed_s(json.loads, s=raw)))
    return found[1:]  # the first loads modules and opens the database


def main() -> None:
    with fresh_site():
        found = ratios()
    print(f"ingest of {RUNS} runs x {SAMPLES:,} samples / json.loads of the same bytes (limit {LIMIT:g} x)")
    print(f"median {median(found):.2f} x   best {min(found):.2f} x   worst {max(found):.2f} x")


if __name__ == "__main__":
    main()
