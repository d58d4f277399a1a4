"""What a row is among the others: its rank, the frontier, grades, and the sweeps that rows form. Pure.

All of it follows from the rows as they stand, so that one row rebuilt and all rows rebuilt give the same board.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from asyncenergy_controller.metrics import efficiency_index

from bench import grading, pooling
from bench.energies import kind_of_energy, on_the_front
from bench.sweeps import Measurement, Sweep, sweeps

Payload = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the board with what it was pooled from: its configuration, and what each machine measured."""

    payload: Payload
    config: Mapping[str, Any]
    machines: Sequence[Mapping[str, Any]]

    @property
    def key(self) -> tuple[str, str]:
        return self.payload["config_key"], self.payload["task"]

    @property
    def kind_of_energy(self) -> tuple[Any, ...]:
        """Energies of another kind are never compared."""
        return self.payload["verified"], *kind_of_energy(self.payload)

    @property
    def shown_machine(self) -> str:
        return next(str(one["machine"]) for one in self.machines if one["run_id"] == self.payload["run_id"])


@dataclass(frozen=True, slots=True)
class Settled:
    """The rows by (configuration, task) with their place, the grade of each configuration, and all sweeps."""

    payloads: dict[tuple[str, str], dict[str, Any]]
    places: dict[tuple[str, str], float | None]
    grades: dict[str, grading.Grade]
    sweeps: list[Sweep]


def settled(entries: Iterable[Entry]) -> Settled:
    """Settle the whole board."""
    ordered = sorted(entries, key=lambda entry: (entry.payload["task"], entry.payload["config_key"]))
    found = sweeps(_measurements(ordered))
    indexed = [{**e.payload, "efficiency_index": index} for e, index in zip(ordered, _indices(ordered), strict=True)]
    grades = _grades(indexed, _flex_shares(ordered, found))
    payloads, places = {}, {}
    for _, group in groupby(indexed, key=lambda row: row["task"]):
        rows = list(group)
        fronts = on_the_front(rows, "joules_per_correct_answer", lambda row: row["gpu_class"])
        for row, (rank, place), front in zip(rows, pooling.standings(rows), fronts, strict=True):
            key, graded = (row["config_key"], row["task"]), grades[row["config_key"]]
            extra = {"rank": rank, "is_pareto": front, "grades": graded.grades, "letter_grade": graded.letter}
            payloads[key], places[key] = {**row, **extra}, place
    return Settled(payloads, places, grades, found)


def _measurements(entries: Iterable[Entry]) -> Iterable[Measurement]:
    for entry in entries:
        for one in entry.machines:
            yield Measurement.of(one, entry.config, *entry.key, verified=entry.payload["verified"])


def _indices(entries: Sequence[Entry]) -> list[float | None]:
    """The efficiency index of each row: only on the task and the kind of energy that the reference was measured in."""
    references = {
        (one["machine"], *entry.kind_of_energy): one["reference_jpc"]
        for entry in entries
        if grading.is_reference(entry.config, entry.payload["task"])
        for one in entry.machines
    }
    return [_index(entry, references) for entry in entries]


def _index(entry: Entry, references: Mapping[tuple[Any, ...], float | None]) -> float | None:
    if entry.payload["task"] != grading.REFERENCE_TASK:
        return None
    reference = references.get((entry.shown_machine, *entry.kind_of_energy))
    return efficiency_index(reference, entry.payload["joules_per_correct_answer"])


def _flex_shares(entries: Sequence[Entry], found: Iterable[Sweep]) -> dict[str, float]:
    """By configuration the largest share of power that a sweep on its shown machine can give up."""
    shown = {(entry.payload["config_key"], entry.shown_machine) for entry in entries}
    shares: dict[str, float] = {}
    for sweep in found:
        share = sweep.flex_share
        for point in sweep.points:
            if share is not None and (point.config_key, point.machine) in shown:
                shares[point.config_key] = max(share, shares.get(point.config_key, share))
    return shares


def _grades(rows: Iterable[Payload], flex_shares: Mapping[str, float]) -> dict[str, grading.Grade]:
    by_config: dict[str, list[Payload]] = defaultdict(list)
    for row in rows:
        by_config[row["config_key"]].append(row)
    return {key: grading.grade(group, flex_shares.get(key)) for key, group in by_config.items()}
