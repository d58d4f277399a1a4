"""A small corpus for the tests of pages: hand-made rows for lists, recorded runs for everything else."""

import gzip
import json
from pathlib import Path
from typing import Any

from accounts.models import User
from bench import pooling
from bench.models import BoardConfig, BoardRow, Run
from bench.services.board import board_rebuild
from bench.services.ingest import submission_ingest
from bench.services.moderation import submission_publish_demo, submission_publish_reference
from tests.bench.corpus import published
from tests.people import make_user
from tests.wire.bundles import make_items, make_trace

REFERENCE = Path(__file__).resolve().parents[2] / "bench" / "reference" / "h200-smollm2-135m.json.gz"
NOW = "2026-08-20T12:00:00+00:00"
SHOWN_RUN = "11111111-1111-4111-8111-111111111111"
ROW: dict[str, Any] = {
    "config_key": "a" * 16,
    "task": "arith",
    "model": "SmolLM2-135M-Instruct",
    "quantization": "bfloat16",
    "engine": "transformers",
    "engine_version": "4.57",
    "gpu_class": "H200",
    "power_limit_w": None,
    "clock_lock_mhz": None,
    "thinking_mode": None,
    "concurrency": 1,
    "energy_source": "counter",
    "energy_boundary": "gpu_board",
    "joules_per_correct_answer": 834.1,
    "jpc_ci_low": 480.0,
    "jpc_ci_high": 2167.0,
    "jpc_wide_low": 477.0,
    "jpc_wide_high": 2168.0,
    "jpc_min": 834.1,
    "jpc_max": 834.1,
    "spread_min": None,
    "spread_max": None,
    "joules_per_token": 2.96,
    "joules_per_item": 146.0,
    "accuracy": 0.175,
    "accuracy_ci_low": 0.087,
    "accuracy_ci_high": 0.319,
    "n_items": 40,
    "n_correct": 7,
    "pooled_tokens_per_second": 43.7,
    "ttft_p50_s": None,
    "tier": "C",
    "verified": True,
    "correctness_word": "server",
    "flags": [],
    "marks": [],
    "n_runs": 1,
    "n_nodes": 1,
    "n_unique_submitters": 1,
    "n_accounts": 1,
    "methodology_version": "3",
    "run_id": SHOWN_RUN,
    "latest_run_id": SHOWN_RUN,
    "updated_at": NOW,
    "net_jpc": 27.6,
    "mean_gpu_w": 129.3,
    "gpu_power_cv": 0.01,
    "peak_gpu_mem_used_mib": 1734.0,
    **pooling.UNSETTLED,
    "rank": 1,
}
CONFIG: dict[str, Any] = {
    **{name: ROW[name] for name in pooling.FROM_CONFIG},
    "source_family": "nvml",
    "max_tokens": 64,
    "n_shot": None,
    "methodology_version": "3",
}
COLUMNS = {field.name for field in BoardRow._meta.concrete_fields} & set(ROW)


def make_row(key: str, **changes: Any) -> BoardRow:
    """A row of the board; `key` tells it from the others."""
    payload = {**ROW, "config_key": key.ljust(16, "0"), **changes}
    stored = {name: payload[name] for name in COLUMNS}
    make_config(payload)
    return BoardRow.objects.create(**stored, place=payload["joules_per_correct_answer"], payload=payload)


def make_config(row: dict[str, Any], **changes: Any) -> BoardConfig:
    """The configuration that a row belongs to."""
    config = CONFIG | {name: row[name] for name in pooling.FROM_CONFIG}
    payload = {
        "config_key": row["config_key"],
        "config": config,
        "methodology_version": row["methodology_version"],
        "verified": row["verified"],
        "tasks": [row["task"]],
        "n_runs": row["n_runs"],
        "n_nodes": row["n_nodes"],
        "cost_model": None,
        "cost_model_reason": "too_few_items",
        "machine_costs": [],
        "load_profile": None,
        "grades": {},
        "letter_grade": None,
        **changes,
    }
    return BoardConfig.objects.update_or_create(
        config_key=row["config_key"], defaults={"config": config, "payload": payload}
    )[0]


def publish_recorded_runs() -> dict[tuple[str, str, int], Run]:
    """The project's own recording on the board, by number format, task and concurrency."""
    raw = gzip.decompress(REFERENCE.read_bytes())
    submission = submission_ingest(account=make_user("recorder@example.org"), raw=raw, is_reference=True).submission
    submission_publish_reference(submission=submission)
    board_rebuild(full=True)
    runs = Run.objects.filter(submission=submission)
    return {(str(run.quantization), str(run.task), run.config["concurrency"]): run for run in runs}


def submit_recorded_run(account: User, index: int = 0, **changes: Any) -> Run:
    """One recorded run, as its owner submits it: nobody has decided on it."""
    bundle = json.loads(gzip.decompress(REFERENCE.read_bytes()))
    run = bundle["runs"][index] | changes
    raw = json.dumps(bundle | {"runs": [run]}).encode()
    return submission_ingest(account=account, raw=raw).runs[0].run


def publish_simulated_run() -> Run:
    """A run whose energy is simulated, published as a demonstration does."""
    run = submit_recorded_run(make_user("demo@example.org"), energy_source="simulated")
    submission_publish_demo(submission=run.submission)
    board_rebuild(full=True)
    return run


def publish_run_with_a_fit(account: User, by: User, n: int = 40) -> Run:
    """A run at 100 W whose items take 0.1 s, and 2 ms for each token asked and 20 ms for each answered."""
    asked, answered = [50 + 7 * i % 90 for i in range(n)], [5 + 11 * i % 60 for i in range(n)]
    lasting = [0.1 + 0.002 * p + 0.02 * c for p, c in zip(asked, answered, strict=True)]
    starts = [2.0 + sum(lasting[:i]) for i in range(n)]
    items = make_items(n, right=n // 2) | {
        "prompt_tokens": asked,
        "completion_tokens": answered,
        "t_start_s": starts,
        "t_end_s": [start + seconds for start, seconds in zip(starts, lasting, strict=True)],
    }
    run = published(account, by, items=items, trace=make_trace(starts[-1] + 5.0), settings={"prefix_cache": "off"})
    board_rebuild(full=True)
    return run
