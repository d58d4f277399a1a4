"""What makes two runs comparable: the configuration and its key. Pure: no Django, no I/O."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from asyncenergy_controller.wire import canonical_json

CLAIMED = "v2-claimed"  # the methodology of bundle versions 1 and 2, whose figures can't be derived again
PROCEDURAL_TASKS = frozenset({"arith"})  # their items depend on the seed, not on a pinned data set

_FAMILIES = {"counter": "nvml", "integrated": "nvml"}
_VENDOR = re.compile(r"^(?:NVIDIA|AMD|Intel|Apple)\s+(?:Corporation\s+)?(?:GeForce\s+)?", re.IGNORECASE)
_SAME_LIMIT_W = 0.5


def source_family(energy_source: str | None) -> str | None:
    """Counter and integration read one board through one library; every other source stands alone."""
    return _FAMILIES.get(energy_source, energy_source) if energy_source else None


def device_class(gpu_name: str | None, *, kind: str = "gpu", cpu_model: str | None = None) -> str | None:
    """``NVIDIA GeForce RTX 3090`` is ``RTX 3090``; a run on a processor is ``cpu:<model>``; None if unknown."""
    if kind == "cpu":
        return f"cpu:{cpu_model}" if cpu_model else "cpu:unknown"
    return _VENDOR.sub("", gpu_name).strip() or None if gpu_name else None


def set_limit_w(limit_w: float | None, stock_w: float | None) -> float | None:
    """The power limit as a setting: None for stock, which is how cards leave the factory."""
    if limit_w is None or (stock_w is not None and abs(limit_w - stock_w) < _SAME_LIMIT_W):
        return None
    return limit_w


def configuration(
    run: Mapping[str, Any],
    *,
    model: str,
    engine: str,
    gpu_class: str | None,
    energy_source: str | None,
    methodology: str,
) -> dict[str, Any]:
    """All that may change the energy of an answer. `run` is a run of any bundle version."""
    device, weights, settings = (run.get(part) or {} for part in ("device", "weights", "settings"))
    return {
        "model": model,
        "weights_repo": weights.get("repo"),
        "weights_revision": weights.get("revision"),
        "weights_digest": weights.get("digest"),
        "quantization": run.get("quantization"),
        "engine": engine,
        "engine_version": run.get("engine_version"),
        "gpu_class": gpu_class,
        "device_count": device.get("count", 1),
        "energy_boundary": run.get("energy_boundary"),
        "source_family": source_family(energy_source),
        "power_limit_w": set_limit_w(run.get("power_limit_w"), run.get("gpu_stock_power_limit_w")),
        "clock_lock_mhz": run.get("clock_lock_mhz"),
        "thinking_mode": run.get("thinking_mode"),
        **{name: settings.get(name) for name in ("reasoning_effort", "cuda_graphs", "ctx_size", "kv_cache")},
        **{name: settings.get(name) for name in ("prefix_cache", "arith_level")},
        **{f"extra_{name}": value for name, value in (settings.get("extra") or {}).items()},
        "max_tokens": run.get("max_tokens"),
        "n_shot": run.get("n_shot"),
        "concurrency": run.get("concurrency", 1),
        "methodology_version": methodology,
    }


def config_key(config: Mapping[str, Any]) -> str:
    """16 hex of the configuration's canonical JSON; 250 and 250.0 W are one limit."""
    plain = {name: float(value) if _is_number(value) else value for name, value in config.items()}
    return hashlib.sha256(canonical_json(plain)).hexdigest()[:16]


def item_set(run: Mapping[str, Any]) -> str:
    """Names the list that an item's index points into: equal set and equal index are the same question."""
    task, revision = run.get("task"), run.get("dataset_revision")
    if task in PROCEDURAL_TASKS:
        level = (run.get("settings") or {}).get("arith_level")
        return f"{task}:{run.get('seed')}:{level}"
    return f"{task}:{revision}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
