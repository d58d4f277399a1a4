"""What tools answer: few rows, listed names, and on every answer where its energy was measured and how well."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from bench import selectors
from bench.selectors import RunDetail
from bench.selectors.names import Listed, listed_names, names_listed

MAX_ROWS = 100
ROW_FIELDS = (
    "config_key",
    "task",
    "model",
    "quantization",
    "engine",
    "engine_version",
    "gpu_class",
    "power_limit_w",
    "concurrency",
    "joules_per_correct_answer",
    "jpc_ci_low",
    "jpc_ci_high",
    "joules_per_token",
    "accuracy",
    "accuracy_ci_low",
    "accuracy_ci_high",
    "n_items",
    "pooled_tokens_per_second",
    "ttft_p50_s",
    "net_jpc",
    "tier",
    "verified",
    "energy_boundary",
    "energy_source",
    "flags",
    "rank",
    "is_pareto",
    "letter_grade",
    "n_runs",
    "n_nodes",
    "run_id",
    "updated_at",
)
PICK_FIELDS = ("predicted_j", "predicted_j_low", "predicted_j_high", "predicted_s", "predicted_cost", "score")
CONFIG_FIELDS = (
    *("quantization", "engine_version", "device_count", "energy_boundary", "source_family", "power_limit_w"),
    *("clock_lock_mhz", "thinking_mode", "ctx_size", "prefix_cache", "max_tokens", "n_shot", "concurrency"),
)
Row = Mapping[str, Any]


def answer(found: Mapping[str, Any], rows: Iterable[Row] = ()) -> dict[str, Any]:
    """With the boundaries and tiers of the rows that it rests on, and the version of the data."""
    rows = list(rows)
    return {
        **found,
        "energy_boundary": sorted({row["energy_boundary"] for row in rows if row["energy_boundary"]}),
        "tier": sorted({row["tier"] or "none" for row in rows}),
        "data_version": selectors.data_version(),
        "licence": "CC BY 4.0, name Async Energy and the data version",
    }


def plain_rows(rows: Sequence[Row], fields: Sequence[str] = ROW_FIELDS) -> list[dict[str, Any]]:
    """At most 100 rows with these fields, names that no maintainer knows as `unlisted`."""
    listed = names_listed()
    return [_named({name: row[name] for name in fields}, listed) for row in rows[:MAX_ROWS]]


def plain_config(found: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration without the long lists of its runs and points."""
    listed = names_listed()
    config = found["config"]
    names = _named({name: config.get(name) for name in ("model", "engine", "gpu_class", *CONFIG_FIELDS)}, listed)
    kept = ("config_key", "methodology_version", "verified", "n_runs", "n_nodes", "cost_model", "cost_model_reason")
    return {
        **{name: found[name] for name in kept},
        "config": names,
        "load_profile": found["load_profile"],
        "grades": found["grades"],
        "letter_grade": found["letter_grade"],
        "rows": plain_rows(found["rows"]),
    }


def plain_run(run: RunDetail) -> dict[str, Any]:
    """One run without its trace, and at most 100 of its items."""
    listed = names_listed()
    config = {name: run.config.get(name) for name in ("model", "engine", "gpu_class", *CONFIG_FIELDS)}
    figures = {name: value for name, value in run.figures.items() if not isinstance(value, dict | list)}
    gates = [{name: gate[name] for name in ("code", "severity", "passed", "sentence")} for gate in run.gates]
    return {
        "run_id": str(run.id),
        "node": run.node,
        "task": run.task,
        "date": run.date.isoformat() if run.date else None,
        "config_key": run.config_key,
        "config": _named(config, listed),
        "methodology_version": run.methodology_version,
        "correctness_word": run.correctness_word,
        "tier_reasons": run.tier_reasons,
        "flags": [asdict(flag) for flag in run.flags],
        "figures": figures,
        "ledger": run.ledger,
        "gates": gates,
        "items": {name: column[:MAX_ROWS] for name, column in run.items.items() if isinstance(column, list)},
        "n_items_in_all": len(run.items.get("index", ())),
        "trace": f"/api/v1/bench/runs/{run.id}",
    }


def _named(row: Row, listed: Listed) -> dict[str, Any]:
    return {**row, **listed_names(row, listed)}
