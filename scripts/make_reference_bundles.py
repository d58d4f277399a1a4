"""Makes the reference bundles of node H from our own measurements on an NVIDIA H200.

    python -m scripts.make_reference_bundles recording ../shared/data/h200_smollm2_trace.json
    python -m scripts.make_reference_bundles campaign FOLDER    # what tests/gpu/campaign.sh left

A campaign's bundles are joined as they are; only the machine's hash becomes that of node H. The recording is older
than the bundle format: its labels say what it holds and nothing more. Its questions and answers were not kept, so its
arithmetic is called `arith_recorded` and correctness is the submitter's word; versions that were not written down
are null.
"""

import gzip
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from asyncenergy_controller import wire
from asyncenergy_controller.metrics import METHODOLOGY_VERSION

FOLDER = Path(__file__).resolve().parent.parent / "bench" / "reference"
NODE_HASH = "reference-node-H"
MODEL = "SmolLM2-135M-Instruct"
TASKS = {"arith": "arith_recorded", "gsm8k": "gsm8k"}
DTYPES = ("bfloat16", "float32")
SHOTS = {"arith": None, "gsm8k": 3}

Recording = dict[str, Any]
Sample = dict[str, Any]


def make_bundle(recording: Recording) -> dict[str, Any]:
    """Return the version-3 bundle of all six recorded runs."""
    return {
        "schema_version": "3",
        "generated_at": _instant(max(run["samples"][-1]["ts"] for run in recording["runs"])),
        "suite": "run",
        "nodes": [{"node_hash": NODE_HASH}],
        "baselines": [
            _baseline(recording["baseline_empty"], "empty", None),
            *(_baseline(recording[f"baseline_loaded_{dtype}"], "loaded", dtype) for dtype in DTYPES),
        ],
        "runs": [_run(recording["facts"], run) for run in recording["runs"]],
    }


def _run(facts: Recording, run: Recording) -> dict[str, Any]:
    t0 = run["samples"][0]["ts"]
    items = _items(run["items"], t0)
    end_s = run["samples"][-1]["ts"] - t0
    return {
        **_setup(facts, run),
        "created_at": _instant(t0),
        "ledger": _ledger(min(items["t_start_s"]), max(items["t_end_s"]), end_s),
        "items": items,
        "trace": _trace(run["samples"], t0),
    }


def _setup(facts: Recording, run: Recording) -> dict[str, Any]:
    major, minor = divmod(facts["cuda"], 1000)
    return {
        "schema_version": "4",
        "methodology_version": METHODOLOGY_VERSION,
        "node_hash": NODE_HASH,
        "engine": "transformers",
        "engine_version": None,
        "driver_version": facts["driver"],
        "cuda_version": f"{major}.{minor // 10}",
        "gpu_name": facts["gpu_name"],
        "model": MODEL,
        "quantization": run["dtype"],
        "weights": {"repo": None, "revision": None, "digest": None},
        "device": {"kind": "gpu", "count": 1},
        "energy_boundary": "gpu_board",
        "energy_source": "counter",
        "measurement_tier": "C",
        "power_limit_w": facts["limit_mw"] / 1000,
        "gpu_stock_power_limit_w": facts["default_mw"] / 1000,
        "clock_lock_mhz": None,
        "concurrency": run["batch"],
        "max_tokens": run["max_tokens"],
        "n_shot": SHOTS[run["task"]],
        "task": TASKS[run["task"]],
        "is_canary": False,
        "repeat_index": 0,
        "streaming_used": False,
        "settings": {"prefix_cache": "off", "extra": {"torch": facts["torch"]}},
        "sensor": {"counter_period_s": 0.1},
    }


def _items(items: Sequence[Recording], t0: float) -> dict[str, Any]:
    return {
        "index": list(range(len(items))),
        "t_start_s": [round(item["t_start"] - t0, 6) for item in items],
        "t_end_s": [round(item["t_end"] - t0, 6) for item in items],
        "prompt_tokens": [item["prompt_tokens"] for item in items],
        "completion_tokens": [item["completion_tokens"] for item in items],
        "correct": [float(item["correct"]) for item in items],
        "finish_reason": [item["finish"] for item in items],
    }


def _trace(samples: Sequence[Sample], t0: float) -> dict[str, Any]:
    first_mj = samples[0]["energy_mj"]
    return {
        "t_s": [round(s["ts"] - t0, 6) for s in samples],
        "gpu_power_w": [s["power_w"] for s in samples],
        "power_field": "default",
        "gpu_energy_mj": [s["energy_mj"] - first_mj for s in samples],
        "gpu_util_pct": [s["util"] for s in samples],
        "gpu_mem_used_mib": [s["mem_used_mib"] for s in samples],
        "gpu_temp_c": [s["temp_c"] for s in samples],
        "sm_clock_mhz": [s["sm_mhz"] for s in samples],
        "throttle_mask": [s["throttle"] for s in samples],
    }


def _ledger(first_s: float, last_s: float, end_s: float) -> list[dict[str, Any]]:
    edges = [("loaded_idle", 0.0, first_s), ("items", first_s, last_s), ("tail", last_s, round(end_s, 6))]
    return [{"phase": phase, "t_start_s": start, "t_end_s": end} for phase, start, end in edges]


def _baseline(samples: Sequence[Sample], kind: str, dtype: str | None) -> dict[str, Any]:
    """The mean is the counter's: the recording's power field lags behind the first seconds after a load."""
    duration_s = samples[-1]["ts"] - samples[0]["ts"]
    return {
        "node_hash": NODE_HASH,
        "kind": kind,
        "model": MODEL if dtype else None,
        "quantization": dtype,
        "mean_gpu_w": (samples[-1]["energy_mj"] - samples[0]["energy_mj"]) / 1000 / duration_s,
        "peak_gpu_w": max(s["power_w"] for s in samples),
        "gpu_mem_used_mib": samples[-1]["mem_used_mib"],
        "duration_s": round(duration_s, 3),
    }


def _instant(epoch_s: float) -> str:
    return datetime.fromtimestamp(int(epoch_s), UTC).isoformat()


def join_campaign(folder: Path) -> dict[str, Any]:
    """Return one bundle of all runs in a campaign's bundles, whose names don't begin with `cost-`."""
    paths = [path for path in sorted(folder.glob("*.bundle.json.gz")) if not path.name.startswith("cost-")]
    bundles = [json.loads(gzip.decompress(path.read_bytes())) for path in paths]
    joined = {**bundles[0], "generated_at": max(bundle["generated_at"] for bundle in bundles)}
    for part in ("runs", "baselines", "load_profiles"):
        joined[part] = [{**entry, "node_hash": NODE_HASH} for bundle in bundles for entry in bundle[part]]
    joined["nodes"] = [{**bundles[0]["nodes"][0], "node_hash": NODE_HASH}]
    return joined


def write(bundle: dict[str, Any], name: str) -> None:
    wire.refuse_private(bundle)
    wire.parse_bundle(bundle)
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / name
    path.write_bytes(gzip.compress(wire.canonical_json(bundle), mtime=0))
    print(f"{path.name}: {len(bundle['runs'])} runs, {path.stat().st_size} bytes")


def main(kind: str, source: str) -> None:
    if kind == "recording":
        write(make_bundle(json.loads(Path(source).read_text())), "h200-smollm2-135m.json.gz")
    elif kind == "campaign":
        write(join_campaign(Path(source)), "h200-smollm2-135m-campaign.json.gz")
    else:
        sys.exit(f"recording or campaign, not {kind!r}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
