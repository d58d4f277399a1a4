"""Derives a published row again from nothing but the public download. Pure: no Django, no I/O.

Counts of submitters and accounts are not in the download, so they are taken on trust; everything else is compared.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose
from typing import Any

from asyncenergy_controller.metrics import cost_items

from bench import pooling
from bench.aggregation import Source, aggregate
from bench.configuration import CLAIMED, item_set
from bench.derivation import derive_again
from bench.settling import Entry, settled

TOLERANCE = 1e-9  # what another processor's rounding may do
ON_TRUST = frozenset({"n_unique_submitters", "n_accounts", "latest_run_id"})
Line = Mapping[str, Any]
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure that comes out otherwise; `of` names the run or the row."""

    of: str
    name: str
    published: Any
    derived: Any


@dataclass(frozen=True, slots=True)
class Check:
    """One row against what its runs give. `is_claimed` rows came as totals: they are pooled again, not derived."""

    config_key: str
    task: str
    is_claimed: bool
    n_runs: int
    n_figures: int
    differences: list[Difference]

    @property
    def agrees(self) -> bool:
        return not self.differences


@dataclass(slots=True)
class _Found:
    """What the lines of one configuration gave so far, without the lines."""

    sources: list[Source] = field(default_factory=list)
    differences: dict[str, list[Difference]] = field(default_factory=lambda: defaultdict(list))

    def add(self, line: Line) -> None:
        figures = _figures(line)
        self.sources.append(_source(line, figures))
        self.differences[line["task"]] += _run_differences(line, figures)

    def entries(self) -> list[Entry]:
        found = aggregate(self.sources)
        return [Entry(row.payload, found.config, row.machines) for row in found.rows.values()]

    def n_runs(self, task: str) -> int:
        return sum(source.run.task == task for source in self.sources)


def check_rows(lines: Iterable[Line], rows: Sequence[Row], beside: Iterable[Entry] = ()) -> list[Check]:
    """Rows against all their runs, one line at a time. `beside` are rows that are not checked but stand there too."""
    found: dict[str, _Found] = defaultdict(_Found)
    for line in lines:
        found[line["config_key"]].add(line)
    entries = [entry for one in found.values() for entry in one.entries()]
    derived = settled([*entries, *beside]).payloads
    return [_check(row, found[row["config_key"]], derived.get((row["config_key"], row["task"]), {})) for row in rows]


def _check(row: Row, found: _Found, derived: Row) -> Check:
    key, task = row["config_key"], row["task"]
    compared = [name for name in row if name not in ON_TRUST]
    of = f"{key} on {task}"
    differences = [
        Difference(of, name, row[name], derived.get(name))
        for name in compared
        if not same(row[name], derived.get(name))
    ]
    n_runs = found.n_runs(task)
    return Check(key, task, not row["verified"], n_runs, len(compared), [*found.differences[task], *differences])


def _run_differences(line: Line, figures: Mapping[str, Any]) -> list[Difference]:
    """The published figures of one run that its items and trace don't give; none for a run of totals."""
    if not line["items"]:
        return []
    return [
        Difference(line["id"], name, published, figures[name])
        for name, published in line["figures"].items()
        if name in figures and not same(published, figures[name])
    ]


def same(one: Any, other: Any) -> bool:
    """Equal, numbers up to rounding, whatever they are nested in."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) or isinstance(other, float):
        numbers = isinstance(one, int | float) and isinstance(other, int | float)
        return numbers and isclose(one, other, rel_tol=TOLERANCE, abs_tol=1e-12)
    return bool(one == other)


def _figures(line: Line) -> Mapping[str, Any]:
    if line["items"]:
        return derive_again(line["facts"], line["items"], line["trace"])
    figures: Mapping[str, Any] = line["figures"]
    return figures


def _source(line: Line, figures: Mapping[str, Any]) -> Source:
    items = line["items"]
    prefix_cache = line["config"].get("prefix_cache")
    costs, reason = cost_items(items, items["energy_j"], prefix_cache) if items else (None, "no_items")
    return Source(_measured(line, figures), costs, reason, None, {})


def _measured(line: Line, figures: Mapping[str, Any]) -> pooling.Measured:
    return pooling.Measured(
        run_id=line["id"],
        machine=line.get("machine") or line["node"] or "unnamed",  # older downloads name no machine but the node
        node=line["node"],
        account=line["node"],
        is_counted=True,
        config_key=line["config_key"],
        config=line["config"],
        task=line["task"],
        suite=line["suite"],
        methodology=line["methodology_version"],
        verified=line["methodology_version"] != CLAIMED,
        tier=figures["tier"],
        correctness_word=line["correctness_word"],
        figures={name: figures.get(name) for name in pooling.NEEDED},
        stock_limit_w=line["facts"].get("gpu_stock_power_limit_w"),
        marks=line["flags"],
        received="",
        updated=line["updated_at"],
        scores=_scores(line),
    )


def _scores(line: Line) -> dict[Hashable, float] | None:
    items = line["items"]
    if not items:
        return None
    of = item_set(line["facts"])
    return {(of, index): score for index, score in zip(items["index"], items["correct"], strict=True)}
