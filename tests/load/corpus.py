"""A large corpus, made through the services that the product itself uses."""

import itertools
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from accounts.models import User
from bench import services
from bench.models import Decision, Run
from benchmarks.ingest import make_bundle

CONFIGURATIONS = 300
RUNS_A_BUNDLE = 20
ACCOUNTS = 50
V3_RUNS, V3_SAMPLES, V3_ITEMS = 500, 300, 20
PUBLISHED_AT_ONCE = 2000
TASKS = ("gsm8k_platinum", "mmlu_redux", "ifeval")
CARDS = ("NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 4090", "NVIDIA H200", "NVIDIA L40S")
FORMATS = ("Q4_K_M", "Q8_0", "BF16")
SETTINGS = list(itertools.product(range(25), FORMATS, CARDS))  # 25 x 3 x 4 = 300


@dataclass(frozen=True, slots=True)
class Made:
    """How many runs are published, and how long it took in s."""

    runs: int
    ingest_s: float
    publish_s: float


def make_corpus(bundles: int, *, v3_runs: int = 0, seed: int = 1) -> Made:
    """Take in `bundles` bundles of totals and so many runs with traces, and publish every run."""
    rng = random.Random(seed)
    accounts = [_account(f"submitter-{seed}-{i}@example.org") for i in range(min(ACCOUNTS, bundles))]
    maintainer = _account("maintainer@example.org", is_superuser=True)
    started = time.perf_counter()
    for i in range(bundles):
        account = i % len(accounts)
        services.submission_ingest(account=accounts[account], raw=json.dumps(_totals(rng, i, account)).encode())
    for i, bundle in enumerate(_with_traces(v3_runs, seed)):
        services.submission_ingest(account=accounts[i % len(accounts)], raw=json.dumps(bundle).encode())
    taken_in = time.perf_counter()
    runs = _publish(maintainer)
    return Made(runs, taken_in - started, time.perf_counter() - taken_in)


def _account(email: str, **extra: Any) -> User:
    return User.objects.filter(email=email).first() or User.objects.create_user(email, None, **extra)


def _totals(rng: random.Random, i: int, account: int) -> dict[str, Any]:
    """A bundle of version 2 whose runs lie in twenty neighbouring configurations."""
    runs = [_run(rng, SETTINGS[(RUNS_A_BUNDLE * i + k) % CONFIGURATIONS], i, account) for k in range(RUNS_A_BUNDLE)]
    return {"schema_version": "2", "generated_at": "2026-08-20T09:00:00+00:00", "runs": runs}


def _run(rng: random.Random, setting: tuple[int, str, str], i: int, account: int) -> dict[str, Any]:
    model, quantization, card = setting
    n_correct, energy_j, tokens = rng.randrange(40, 95), rng.uniform(2_000, 90_000), rng.randrange(8_000, 20_000)
    duration_s = energy_j / rng.uniform(150, 400)
    return {
        "node_hash": f"{account:064x}",
        "schema_version": "4",
        "engine": "llama.cpp",
        "engine_version": "b6000",
        "model": f"load-{model + 1}b",
        "quantization": quantization,
        "gpu_name": card,
        "measurement_tier": "C",
        "run_duration_s": duration_s,
        "repeat_index": i % 3,
        "created_at": "2026-08-20T09:00:00+00:00",
        "task": TASKS[model % len(TASKS)],
        "n_items": 100,
        "n_correct": n_correct,
        "total_joules_gpu_best": energy_j,
        "total_completion_tokens": tokens,
        "energy_source": "counter",
        "jpc_ci_low": 0.9 * energy_j / n_correct,
        "jpc_ci_high": 1.1 * energy_j / n_correct,
        "peak_gpu_mem_used_mib": 1000.0 * (model + 1),
    }


def _with_traces(runs: int, seed: int) -> Iterator[dict[str, Any]]:
    for i in range(0, runs, RUNS_A_BUNDLE):
        n = min(RUNS_A_BUNDLE, runs - i)
        yield make_bundle(10_000 * seed + i, runs=n, samples=V3_SAMPLES, items=V3_ITEMS)


def _publish(maintainer: User) -> int:
    """Decide on all runs that wait, many at once."""
    published = 0
    waiting = list(
        Run.objects.filter(status__in=("pending", "quarantined")).order_by("pk").values_list("pk", flat=True)
    )
    for first in range(0, len(waiting), PUBLISHED_AT_ONCE):
        outcome = services.runs_decide(
            run_ids=waiting[first : first + PUBLISHED_AT_ONCE],
            action=Decision.Action.PUBLISH,
            by=maintainer,
            reason_code="checked",
            note="",
        )
        published += len(outcome.decisions)
    return published
