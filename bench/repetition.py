"""One configuration measured again: by the same machine, with more items, on other machines. Pure.

The shape is that of a sweep, so that every reader treats them alike.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.sweeps import FIGURES

Run = Mapping[str, Any]
KINDS = ("item_count", "repeats", "nodes")
MIN_POINTS = 2
HEAD = ("task", "verified", "model", "quantization", "engine", "engine_version", "gpu_class", "energy_boundary")


def again(runs: Iterable[Run]) -> list[dict[str, Any]]:
    """Item counts and repeats out of published runs of one machine, configuration and task each; `runs` in time."""
    cells: dict[tuple[Any, ...], list[Run]] = defaultdict(list)
    for run in runs:
        cells[run["config_key"], run["task"], run["node"]].append(run)
    found = (one for cell in cells.values() for one in (_item_counts(cell), *_repeats(cell)))
    return [one for one in found if one]


def across_nodes(row: Mapping[str, Any], machines: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The machines of one row; None for a row of one machine."""
    points = [
        _point(machine["node"] or "unnamed", {**machine, "config_key": row["config_key"]}, machine)
        for machine in machines
        if machine["joules_per_correct_answer"] is not None
    ]
    ordered = sorted(points, key=lambda point: point["joules_per_correct_answer"])
    return {**_head("nodes", row), "node": None, "points": ordered} if len(points) >= MIN_POINTS else None


def _item_counts(cell: Sequence[Run]) -> dict[str, Any] | None:
    """One point for each number of items: the latest run."""
    latest = {run["n_items"]: run for run in cell if run["n_items"]}
    points = [_point(n, run, run) for n, run in sorted(latest.items())]
    return {**_head("item_count", cell[0]), "points": points} if len(points) >= MIN_POINTS else None


def _repeats(cell: Sequence[Run]) -> list[dict[str, Any]]:
    same: dict[int | None, list[Run]] = defaultdict(list)
    for run in cell:
        same[run["n_items"]].append(run)
    return [
        {**_head("repeats", runs[0]), "points": [_point(i, run, run) for i, run in enumerate(runs, 1)]}
        for runs in same.values()
        if len(runs) >= MIN_POINTS
    ]


def _head(kind: str, about: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": kind, "unit": None, "node": about.get("node"), **{name: about.get(name) for name in HEAD}}


def _point(setting: float | str, place: Mapping[str, Any], figures: Mapping[str, Any]) -> dict[str, Any]:
    """Machines name their speed and power as the wire does."""
    named = {**figures, "tokens_per_second": figures["pooled_tokens_per_second"], "mean_w": figures["mean_gpu_w"]}
    return {
        "setting": setting,
        "is_stock": False,
        "config_key": place["config_key"],
        "run_id": place["run_id"],
        **{name: named.get(name) for name in FIGURES},
    }
