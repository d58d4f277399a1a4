"""What the download holds of one run. No clock time of the measurement, no account, no hash of a machine. Pure."""

from collections.abc import Mapping
from typing import Any

# of the facts as sent those that a figure rests on, and those that say what ran
FACTS = (
    "engine",
    "engine_version",
    "driver_version",
    "cuda_version",
    "gpu_name",
    "model",
    "quantization",
    "weights",
    "device",
    "energy_boundary",
    "energy_source",
    "concurrency",
    "temperature",
    "max_tokens",
    "seed",
    "n_shot",
    "thinking_mode",
    "task",
    "task_shape",
    "dataset_revision",
    "streaming_used",
    "power_limit_w",
    "gpu_stock_power_limit_w",
    "clock_lock_mhz",
    "settings",
    "methodology_version",
    "baselines",
)
SENSOR = ("counter_period_s", "cpu_energy_range_uj")
PHASE = ("phase", "t_start_s", "t_end_s")


def public_facts(facts: Mapping[str, Any], figures: Mapping[str, Any]) -> dict[str, Any]:
    """What was told of a run, as far as its figures follow from it or its setup is described by it."""
    sensor = facts.get("sensor") or {}
    return {
        **{name: facts[name] for name in FACTS if name in facts},
        "sensor": {name: sensor[name] for name in SENSOR if name in sensor},
        "ledger": [{name: entry[name] for name in PHASE} for entry in figures.get("ledger") or ()],
    }
