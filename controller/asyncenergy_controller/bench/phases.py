"""The phases of one part: the ledger, and what the waiting card drew without and with the model."""

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

from asyncenergy_controller.bench.machine import public_name
from asyncenergy_controller.bench.store import Part
from asyncenergy_controller.sampler import Trace

BASELINE_KINDS = {"empty_idle": "empty", "loaded_idle": "loaded"}


def trace_of(part: Part) -> Trace:
    return Trace(part.readings, part.readings[0].t_s, 0.0)


def ledger_of(part: Part) -> list[dict[str, Any]]:
    """Phases on the recording's clock, from its first reading to its last, without a break between them."""
    if not part.phases:
        return []
    t0_s, last_s = part.readings[0].t_s, part.readings[-1].t_s
    inner = [min(max(row.t_start_s, t0_s), last_s) - t0_s for row in part.phases[1:]]
    edges = [0.0, *inner, last_s - t0_s]
    spans = zip(part.phases, edges, edges[1:], strict=False)
    return [{"phase": row.phase, "t_start_s": start, "t_end_s": end} for row, start, end in spans if end > start]


def session_baselines(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Mean power of the waiting card, without and with the model, in each part that has such a phase."""
    return [entry for part in parts for entry in _baselines(part)]


def _baselines(part: Part) -> Iterator[dict[str, Any]]:
    for span in ledger_of(part):
        kind = BASELINE_KINDS.get(span["phase"])
        powers = _values(part, span, "gpu_power_w")
        if kind and powers:
            yield {
                "node_hash": part.header["node"]["node_hash"],
                "kind": kind,
                "model": part.header["engine"]["model_basename"] if kind == "loaded" else None,
                "mean_gpu_w": fmean(powers),
                "peak_gpu_w": max(powers),
                "gpu_mem_used_mib": max(_values(part, span, "gpu_mem_used_mib"), default=None),
                "duration_s": span["t_end_s"] - span["t_start_s"],
                "driver_version": public_name(part.header["meter"]["driver_version"]),
            }


def load_profile(part: Part) -> dict[str, Any] | None:
    """How the model came into memory, None where the engine didn't load it in this part or a figure is missing."""
    spans = {span["phase"]: span for span in ledger_of(part)}
    if "load" not in spans or "loaded_idle" not in spans:
        return None
    memory = _values(part, spans["loaded_idle"], "gpu_mem_used_mib")
    powers = _values(part, spans["loaded_idle"], "gpu_power_w")
    if not memory or not powers:
        return None
    engine = part.header["engine"]
    return {
        "node_hash": part.header["node"]["node_hash"],
        "model": engine["model_basename"],
        "engine": public_name(engine["engine"]),
        "engine_version": public_name(engine["engine_version"]),
        "quantization": engine["quantization"],
        "driver_version": public_name(part.header["meter"]["driver_version"]),
        "load_time_s": spans["load"]["t_end_s"] - spans["load"]["t_start_s"],
        "vram_after_load_mib": max(memory),
        "loaded_idle_mean_w": fmean(powers),
        "created_at": part.header["created_at"],
    }


def _values(part: Part, span: dict[str, Any], channel: str) -> list[float]:
    """What a channel gave inside a phase."""
    t0_s = part.readings[0].t_s
    inside = (r for r in part.readings if span["t_start_s"] <= r.t_s - t0_s <= span["t_end_s"])
    return [value for reading in inside if (value := getattr(reading, channel)) is not None]
