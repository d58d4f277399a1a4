"""From a run as it was sent to everything the server knows of it by itself. Pure: no Django, no I/O."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from asyncenergy_controller.metrics import RunFigures, recompute_run
from asyncenergy_controller.wire import run_identity
from asyncenergy_controller.wire.runs import Claims

from bench.claims import figures_of_totals
from bench.columns import Array, as_arrays, present
from bench.configuration import CLAIMED, config_key, configuration, device_class
from bench.fingerprint import fingerprint, marks
from bench.scoring import server_scores
from bench.verification.hardware import weights_mib

_CLAIMS = frozenset(Claims.model_fields)
_NOT_FACTS = _CLAIMS | {"items", "trace", "node_hash", "ledger"}
_COUNTERS = ("gpu_energy_mj", "cpu_energy_uj")

Aliases = Mapping[tuple[str, str], str]  # (kind, name as sent) -> name as shown


@dataclass(frozen=True, slots=True)
class Sent:
    """One run of a bundle: as it came, and with its columns as arrays."""

    index: int
    run: Mapping[str, Any]
    measured: Mapping[str, Any]
    identity: str

    @classmethod
    def of(cls, index: int, run: Mapping[str, Any]) -> "Sent":
        measured = as_arrays(run)
        return cls(index, run, measured, run_identity(measured))


@dataclass(frozen=True, slots=True)
class Derived:
    """One run as the server sees it; `items` and `trace` are None for runs that came as totals only."""

    sent: Sent
    figures: dict[str, Any]
    claimed: dict[str, Any]
    facts: dict[str, Any]
    config: dict[str, Any]
    config_key: str
    methodology: str
    fingerprint: str | None
    marks: frozenset[int]
    is_scored_by_server: bool
    empty_memory_mib: float | None
    weights_mib: float | None
    items: dict[str, Any] | None = None
    trace: dict[str, Any] | None = None

    @property
    def run(self) -> Mapping[str, Any]:
        return self.sent.run

    @property
    def is_simulated(self) -> bool:
        return self.run.get("energy_source") == "simulated"

    @property
    def measured_at(self) -> datetime | None:
        created = self.run.get("created_at")
        return datetime.fromisoformat(created) if created else None


def sent_runs(bundle: Mapping[str, Any]) -> list[Sent]:
    """The runs of a checked bundle, each with its identity."""
    return [Sent.of(i, run) for i, run in enumerate(bundle["runs"])]


def derived(sent: Sent, bundle: Mapping[str, Any], aliases: Aliases) -> Derived:
    """Everything that follows from the bundle alone. Raises ValueError where a run's columns contradict each other."""
    run = sent.run
    scores = server_scores(run) if "items" in run else None
    scored = {} if scores is None else {"correct": scores}
    figures, item_energy_j = _figures(sent.measured, scored, bundle)
    figures["claimed_load"] = _claimed_load(run, bundle)
    _require_finite(figures)
    methodology = run.get("methodology_version", CLAIMED)
    config = _config(run, bundle, aliases, figures, methodology)
    empty = _empty_memory_mib(sent.measured, bundle)
    return Derived(
        sent=sent,
        figures=figures,
        claimed=_claimed(run, scored),
        facts=_facts(run, bundle),
        config=config,
        config_key=config_key(config),
        methodology=methodology,
        fingerprint=fingerprint(sent.measured),
        marks=marks(sent.measured),
        is_scored_by_server=scores is not None,
        empty_memory_mib=empty,
        weights_mib=_loaded_mib(run, bundle, empty) or weights_mib(run["model"], run.get("quantization")),
        items={**run["items"], **scored, "energy_j": item_energy_j} if "items" in run else None,
        trace=_public_trace(sent.measured["trace"]) if "items" in run else None,
    )


def _facts(run: Mapping[str, Any], bundle: Mapping[str, Any]) -> dict[str, Any]:
    """The run as sent without its columns and claims, and with the baselines that its figures rest on."""
    own = [entry for entry in bundle.get("baselines") or () if entry["node_hash"] in (None, run.get("node_hash"))]
    bare = [{name: value for name, value in entry.items() if name != "node_hash"} for entry in own]
    return {**{name: value for name, value in run.items() if name not in _NOT_FACTS}, "baselines": bare}


def derive_again(facts: Mapping[str, Any], items: Mapping[str, Any], trace: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a public run, from what everybody can download of it."""
    run = as_arrays({**facts, "items": items, "trace": trace})
    scores = server_scores({**facts, "items": items})
    scored = {} if scores is None else {"correct": scores}
    return _figures(run, scored, {"baselines": facts.get("baselines") or ()})[0]


def _claimed(run: Mapping[str, Any], scored: Mapping[str, Any]) -> dict[str, Any]:
    """The figures that were sent; where the server scored the answers itself, the sent scores are a claim as well."""
    sent = {name: run[name] for name in _CLAIMS & run.keys() if run[name] is not None}
    return {"n_correct": round(sum(run["items"]["correct"])), **sent} if scored else sent


def _figures(
    run: Mapping[str, Any], scored: Mapping[str, Any], bundle: Mapping[str, Any]
) -> tuple[dict[str, Any], list[float | None]]:
    if "items" not in run:
        return figures_of_totals(run), []
    found = recompute_run({**run, "items": {**run["items"], **scored}}, baselines=bundle.get("baselines") or ())
    return _as_dict(found), list(found.item_energy_j)


def _require_finite(figures: Mapping[str, Any]) -> None:
    """Sums and squares of huge numbers overflow; a database stores no infinity."""
    try:
        json.dumps(figures, allow_nan=False)
    except ValueError as error:
        raise ValueError("some number of the run is too large to compute with") from error


def _as_dict(found: RunFigures) -> dict[str, Any]:
    plain = {name: value for name, value in vars(found).items() if name != "item_energy_j"}
    plain["ledger"] = [asdict(entry) for entry in found.ledger]
    plain["cost_model"] = asdict(found.cost_model) if found.cost_model else None
    plain["tier_reasons"] = list(found.tier_reasons)
    return plain


def _config(
    run: Mapping[str, Any], bundle: Mapping[str, Any], aliases: Aliases, figures: Mapping[str, Any], methodology: str
) -> dict[str, Any]:
    kind = (run.get("device") or {}).get("kind", "gpu")
    node = _of_node(bundle.get("nodes"), run)
    named = device_class(run.get("gpu_name"), kind=kind, cpu_model=node.get("cpu_model"))
    return configuration(
        run,
        model=aliases.get(("model", run["model"]), run["model"]),
        engine=aliases.get(("engine", run["engine"]), run["engine"]),
        gpu_class=aliases.get(("gpu", named), named) if named else None,
        energy_source=figures["energy_source"] or run.get("energy_source"),
        methodology=methodology,
    )


def names_to_look_up(bundle: Mapping[str, Any]) -> set[str]:
    """Every name of the bundle that an alias may stand for."""
    names = set()
    for run in bundle["runs"]:
        node = _of_node(bundle.get("nodes"), run)
        kind = (run.get("device") or {}).get("kind", "gpu")
        names |= {
            run["model"],
            run["engine"],
            device_class(run.get("gpu_name"), kind=kind, cpu_model=node.get("cpu_model")),
        }
    return {name for name in names if name}


def _of_node(entries: Iterable[Mapping[str, Any]] | None, run: Mapping[str, Any]) -> Mapping[str, Any]:
    wanted = run.get("node_hash")
    return next((entry for entry in entries or () if wanted and entry.get("node_hash") == wanted), {})


def _public_trace(trace: Mapping[str, Any]) -> dict[str, Any]:
    """Counters from 0 at their first reading: a raw one would tell which machine it was."""
    rebased = {name: _rebased(trace[name]) for name in _COUNTERS if trace.get(name) is not None}
    field = trace.get("power_field")
    word = next((word for word in field if word), None) if isinstance(field, list) else field
    return {**trace, **rebased, "power_field": word}


def _rebased(column: Array) -> Array:
    told = present(column)
    return column - told[0] if told.size else column


def _empty_memory_mib(measured: Mapping[str, Any], bundle: Mapping[str, Any]) -> float | None:
    """Memory in use on the empty card: from the run's own recording, else from the session's baseline."""
    trace: Mapping[str, Any] = measured.get("trace") or {}
    memory = trace.get("gpu_mem_used_mib")
    for phase in measured.get("ledger") or ():
        if memory is not None and phase["phase"] == "empty_idle":
            inside = (trace["t_s"] >= phase["t_start_s"]) & (trace["t_s"] <= phase["t_end_s"])
            told = present(memory[inside])
            return float(told.max()) if told.size else None
    empty = [entry for entry in bundle.get("baselines") or () if entry["kind"] == "empty"]
    return _of_node(empty, measured).get("gpu_mem_used_mib")


def _load_entry(run: Mapping[str, Any], bundle: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What the bundle says of loading the run's model."""
    return next((entry for entry in bundle.get("load_profiles") or () if entry["model"] == run["model"]), None)


def _claimed_load(run: Mapping[str, Any], bundle: Mapping[str, Any]) -> dict[str, Any] | None:
    entry = _load_entry(run, bundle)
    if entry is None:
        return None
    return {
        "load_time_s": entry["load_time_s"],
        "load_energy_j": entry.get("load_energy_j"),
        "loaded_idle_w": entry["loaded_idle_mean_w"],
        "memory_mib": entry["vram_after_load_mib"],
        "claimed": True,
    }


def _loaded_mib(run: Mapping[str, Any], bundle: Mapping[str, Any], empty_mib: float | None) -> float | None:
    entry = _load_entry(run, bundle)
    return None if entry is None or empty_mib is None else max(0.0, float(entry["vram_after_load_mib"]) - empty_mib)
