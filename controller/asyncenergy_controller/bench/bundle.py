"""From a run on disk to a version-3 bundle: only what was measured, and nothing that names the machine."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from asyncenergy_controller import clock, metrics
from asyncenergy_controller.bench.machine import public_name
from asyncenergy_controller.bench.phases import ledger_of, load_profile, session_baselines, trace_of
from asyncenergy_controller.bench.plan import bundle_settings
from asyncenergy_controller.bench.store import ItemRow, Part, RunDir
from asyncenergy_controller.bench.wall import wall_aligned
from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.files import write_atomically
from asyncenergy_controller.wire import SHIPPED_ANSWER_TASKS, WireError, parse_bundle, refuse_private

BUNDLE_VERSION = "3"
ROW_VERSION = "4"


class BundleRefused(ControllerError):
    """The run can't be put into a bundle that the server would take; it stays on disk."""


def bundle_run(part: Part) -> dict[str, Any]:
    """One part as a version-3 run, with times from its first reading on. Facts that are unknown are left out."""
    header = part.header
    unit, engine, meter = header["unit"], header["engine"], header["meter"]
    trace, wall_skew_s = wall_aligned(trace_of(part).columns())
    run = {
        "schema_version": ROW_VERSION,
        "methodology_version": metrics.METHODOLOGY_VERSION,
        "node_hash": header["node"]["node_hash"],
        "created_at": header["created_at"],
        "engine": public_name(engine["engine"]),
        "engine_version": public_name(engine["engine_version"]),
        "driver_version": public_name(meter["driver_version"]),
        "cuda_version": public_name(meter["cuda_version"]),
        "gpu_name": public_name(meter["device_name"]),
        "model": engine["model_basename"],
        "quantization": engine["quantization"],
        "weights": _weights(engine["weights_digest"]),
        "device": {"kind": meter["device_kind"], "count": meter["device_count"]},
        "energy_boundary": meter["energy_boundary"],
        "energy_source": meter["energy_source"],
        "concurrency": unit["concurrency"],
        "temperature": unit["temperature"],
        "max_tokens": header["max_tokens"],
        "seed": header["seed"],
        "n_shot": header["task"]["n_shot"],
        "thinking_mode": _thinking_mode(unit, engine),
        "task": header["task"]["name"],
        "dataset_revision": header["task"]["dataset_revision"],
        "is_canary": header["task"]["is_canary"],
        "repeat_index": unit["repeat_index"],
        "streaming_used": all(row.streamed for row in part.items),
        "power_limit_w": _limit_below_stock(meter),
        "gpu_stock_power_limit_w": meter["stock_power_limit_w"],
        "clock_lock_mhz": unit["clock_lock_mhz"],
        "settings": _settings(header),
        "sensor": _sensor(header, wall_skew_s),
        "ledger": ledger_of(part),
        "items": _item_columns(part),
        "trace": trace,
    }
    return {name: value for name, value in run.items() if value is not None}


def build_bundle(run: RunDir, parts: Sequence[Part]) -> dict[str, Any]:
    """The bundle of all parts that have an answered question. Raises BundleRefused."""
    usable = [part for part in parts if part.items and part.header["meter"]["energy_boundary"]]
    if not usable:
        raise BundleRefused("There is no bundle: " + _why_nothing_is_usable(parts))
    nodes = {part.header["node"]["node_hash"]: part.header["node"] for part in usable}
    bundle = {
        "schema_version": BUNDLE_VERSION,
        "generated_at": clock.now().isoformat(timespec="seconds"),
        "suite": run.plan.suite,
        "nodes": list(nodes.values()),
        "runs": [bundle_run(part) for part in usable],
        "load_profiles": [profile for part in usable if (profile := load_profile(part))],
        "baselines": session_baselines(usable),
    }
    try:
        refuse_private(bundle)
        parse_bundle(bundle)
    except WireError as error:
        raise BundleRefused(f"There is no bundle: {error.detail} The run itself is kept in {run.path}.") from error
    return bundle


def write_bundle(path: Path, bundle: dict[str, Any]) -> None:
    content = json.dumps(bundle, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    write_atomically(path, content.encode() + b"\n")


def _why_nothing_is_usable(parts: Sequence[Part]) -> str:
    answered = [part for part in parts if part.items]
    if not answered:
        return "no question was answered."
    reasons = {reason for part in answered for reason in part.header["meter"]["reasons"].values()}
    return f"energy was not measured ({'; '.join(sorted(reasons)) or 'the meter gave nothing'})."


def _weights(digest: str | None) -> dict[str, str] | None:
    return {"digest": digest.removeprefix("sha256:")} if digest else None


def _limit_below_stock(meter: dict[str, Any]) -> float | None:
    """None is the factory default: a card at stock is one configuration, whatever its default is."""
    limit_w, stock_w = meter["power_limit_w"], meter["stock_power_limit_w"]
    return None if limit_w == stock_w else limit_w


def _thinking_mode(unit: dict[str, Any], engine: dict[str, Any]) -> str | None:
    asked = unit["thinking"]
    return asked if asked != "default" and engine["thinking_switch"] else None


def _settings(header: dict[str, Any]) -> dict[str, Any]:
    unit, engine = header["unit"], header["engine"]
    settings = {
        "reasoning_effort": unit["reasoning_effort"],
        "ctx_size": engine["ctx_size"],
        "prefix_cache": engine["prefix_cache"],
        "arith_level": header["task"]["level"],
        **bundle_settings(unit["settings"]),
    }
    return {name: value for name, value in settings.items() if value not in (None, {})}


def _sensor(header: dict[str, Any], wall_skew_s: float | None) -> dict[str, Any]:
    """What the doctor found, and what the meter and this very trace tell."""
    told = {name: header["meter"][name] for name in ("counter_period_s", "cpu_energy_range_uj")}
    told["wall_skew_s"] = wall_skew_s
    return (header["sensor"] or {}) | {name: value for name, value in told.items() if value is not None}


def _item_columns(part: Part) -> dict[str, list[Any]]:
    t0_s = part.readings[0].t_s
    rows = sorted(part.items, key=lambda row: row.t_start_s)
    columns: dict[str, list[Any]] = {
        "index": [row.index for row in rows],
        "t_start_s": [row.t_start_s - t0_s for row in rows],
        "t_end_s": [row.t_end_s - t0_s for row in rows],
    }
    always = ("prompt_tokens", "completion_tokens", "correct", "finish_reason")
    columns |= {name: _column(rows, name) for name in always}
    told = {name: _column(rows, name) for name in ("cached_prompt_tokens", "ttft_s")}
    if part.header["task"]["name"] in SHIPPED_ANSWER_TASKS:
        columns["answer"] = _column(rows, "answer")
    return columns | {name: column for name, column in told.items() if any(value is not None for value in column)}


def _column(rows: Sequence[ItemRow], name: str) -> list[Any]:
    return [getattr(row, name) for row in rows]
