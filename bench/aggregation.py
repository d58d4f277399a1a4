"""From the runs of one configuration to its rows, its cost model and its load profile. Pure: no Django, no I/O."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from asyncenergy_controller.metrics import CostItems, median_index

from bench import pooling
from bench.costs import claimed_costs, config_costs


@dataclass(frozen=True, slots=True)
class Source:
    """One published run with what cost models and load profiles are made of."""

    run: pooling.Measured
    items: CostItems | None
    items_reason: str | None
    load: Mapping[str, Any] | None
    claimed_costs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PooledRow:
    payload: dict[str, Any]
    machines: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One configuration: `rows` by task."""

    config_key: str
    config: Mapping[str, Any]
    payload: dict[str, Any]
    rows: dict[str, PooledRow]


def aggregate(sources: Sequence[Source]) -> Aggregate:
    """Pool the published runs of one configuration; there is at least one."""
    by_task: dict[str, list[pooling.Measured]] = defaultdict(list)
    for source in sources:
        by_task[str(source.run.task)].append(source.run)
    first = sources[0].run
    rows = {task: PooledRow(pooling.row(runs), pooling.machines(runs)) for task, runs in sorted(by_task.items())}
    payload = {
        "config_key": first.config_key,
        "config": dict(first.config),
        "methodology_version": first.methodology,
        "verified": first.verified,
        "tasks": list(rows),
        "n_runs": len(sources),
        "n_nodes": len({source.run.machine for source in sources}),
        **_costs(sources),
        "load_profile": _load_profile(sources),
        "grades": {},
        "letter_grade": None,
    }
    return Aggregate(first.config_key, first.config, payload, rows)


def _costs(sources: Sequence[Source]) -> dict[str, Any]:
    if not sources[0].run.verified:
        return claimed_costs(_median_of([source for source in sources if source.claimed_costs]))
    by_machine: dict[tuple[str, str | None], list[CostItems]] = defaultdict(list)
    for source in sources:
        if source.items is not None:
            by_machine[source.run.machine, source.run.node].append(source.items)
    if not by_machine:
        return {"cost_model": None, "cost_model_reason": sources[0].items_reason, "machine_costs": []}
    return config_costs(by_machine)


def _median_of(sources: Sequence[Source]) -> Mapping[str, Any]:
    if not sources:
        return {}
    shown = pooling.median([source.run for source in sources])
    return next(source.claimed_costs for source in sources if source.run.run_id == shown.run_id)


def _load_profile(sources: Sequence[Source]) -> dict[str, Any] | None:
    """How the model was loaded in the run of median load energy, all figures from that one run."""
    known = sorted((source for source in sources if source.load), key=lambda source: source.run.run_id)
    if not known:
        return None
    loads = [source.load or {} for source in known]
    at = median_index([inf if load.get("load_energy_j") is None else load["load_energy_j"] for load in loads])
    return {**loads[at], "node": known[at].run.node, "n_runs": len(known)}
