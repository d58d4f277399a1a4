"""Gates that refuse a bundle: nothing of it is stored. Pure: no Django, no I/O.

They look at one run as it was sent, its columns as arrays, and return the offending places; the schema has been
checked before.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from asyncenergy_controller.wire import ENERGY_BOUNDARIES, ENERGY_SOURCES, KNOWN_TASKS, TABLES

from bench.columns import Array, present

# may be below 0: temperatures, differences, fitted slopes, seeds, and -1 for no token limit
_SIGNED = frozenset(
    {
        "counter_vs_integration_pct_diff",
        "gpu_temp_c_start",
        "gpu_temp_c_end",
        "peak_gpu_temp_c",
        "mean_gpu_temp_c",
        "costmodel_r2",
        "alpha_j_per_prompt_token",
        "beta_j_per_completion_token",
        "e_fixed_j",
        "seed",
        "max_tokens",
    }
)
_SIGNED_COLUMNS = frozenset({"gpu_temp_c"})
_COUNTS = frozenset({"n_items", "n_correct"})
HIGHEST = 1e18  # far above any joule, watt or second, far below what sums and squares can't hold
HIGHEST_COUNT = 1_000_000_000
_COUNTERS = ("gpu_energy_mj", "cpu_energy_uj")


@dataclass(frozen=True, slots=True)
class Refusal:
    """`attr` is the dotted place inside the run."""

    attr: str
    code: str
    detail: str


def bundle_refusals(
    bundle: Mapping[str, Any], runs: Iterable[Mapping[str, Any]], *, allow_simulated: bool
) -> Iterator[Refusal]:
    """Everything that keeps a bundle out of the corpus, with places from its top. `runs` have arrays for columns."""
    for table in ("nodes", "baselines", "load_profiles", "grades"):
        for i, entry in enumerate(bundle.get(table) or ()):
            yield from _inside(f"{table}.{i}", _implausible_fields(entry))
    for i, run in enumerate(runs):
        yield from _inside(f"runs.{i}", refusals(run, allow_simulated=allow_simulated))


def _inside(place: str, found: Iterator[Refusal]) -> Iterator[Refusal]:
    return (replace(refusal, attr=f"{place}.{refusal.attr}") for refusal in found)


def refusals(run: Mapping[str, Any], *, allow_simulated: bool) -> Iterator[Refusal]:
    """Everything that keeps one run out of the corpus, with places inside the run."""
    yield from _unknown_words(run, allow_simulated=allow_simulated)
    yield from _implausible_fields(run)
    yield from _counts(run)
    if "items" in run:
        yield from _implausible_columns(run)
        yield from _falling_counters(run["trace"])
        yield from _scores(run["items"])
        yield from _spans(run)


def _unknown_words(run: Mapping[str, Any], *, allow_simulated: bool) -> Iterator[Refusal]:
    task, source, boundary = run.get("task"), run.get("energy_source"), run.get("energy_boundary")
    if task is not None and task not in KNOWN_TASKS:
        yield Refusal("task", "unknown_task", f"The task {task!r} is not known. Known: {_listed(KNOWN_TASKS)}.")
    if source is not None and source not in ENERGY_SOURCES:
        yield Refusal(
            "energy_source", "unknown_source", f"{source!r} is no energy source. Known: {_listed(ENERGY_SOURCES)}."
        )
    if boundary is not None and boundary not in ENERGY_BOUNDARIES:
        yield Refusal(
            "energy_boundary", "unknown_boundary", f"{boundary!r} is no boundary. Known: {_listed(ENERGY_BOUNDARIES)}."
        )
    if source == "simulated" and not allow_simulated:
        yield Refusal(
            "energy_source", "simulated", "Simulated energy is no measurement; only a demonstration server takes it."
        )


def _implausible_fields(fields: Mapping[str, Any]) -> Iterator[Refusal]:
    for name, value in fields.items():
        if not isinstance(value, int | float):
            continue
        limit = HIGHEST_COUNT if name in _COUNTS else HIGHEST
        if value < 0 and name not in _SIGNED:
            yield Refusal(name, "negative", f"{name} is {value}; it can't be below 0.")
        elif abs(value) > limit:
            yield Refusal(name, "too_large", f"{name} is over {limit:.0e}; no machine measures that.")


def _counts(run: Mapping[str, Any]) -> Iterator[Refusal]:
    n_correct, accuracy = run.get("n_correct"), run.get("accuracy")
    sent = len(run["items"]["index"]) if "items" in run else None
    n_items = run.get("n_items", sent)
    if n_correct is not None and n_items is not None and n_correct > n_items:
        yield Refusal("n_correct", "n_correct_over_n_items", f"n_correct is {n_correct}, but n_items is {n_items}.")
    if accuracy is not None and accuracy > 1:
        yield Refusal("accuracy", "score_range", f"accuracy is {accuracy}; it lies between 0 and 1.")
    if sent == 0:
        yield Refusal("items.index", "no_items", "The run has no item; a run answers at least one question.")


def _implausible_columns(run: Mapping[str, Any]) -> Iterator[Refusal]:
    for table in TABLES:
        for name, column in run[table].items():
            if name in _SIGNED_COLUMNS or name in _COUNTERS or not isinstance(column, np.ndarray):
                continue
            at = _first_outside(column)
            if at is not None:
                place = f"{table}.{name}.{at}"
                below = column[at] < 0
                words = f"is {column[at]:g}; it can't be below 0" if below else f"is over {HIGHEST:.0e}"
                yield Refusal(place, "negative" if below else "too_large", f"{place} {words}.")


def _falling_counters(trace: Mapping[str, Any]) -> Iterator[Refusal]:
    """A driver reload may take a rebased counter below 0, once and for good; nothing else may."""
    for name in _COUNTERS:
        column = trace.get(name)
        if column is None:
            continue
        at = _first_outside(column)
        if at is None or (name == "cpu_energy_uj" and at > 0):  # a processor's counter wraps
            continue
        if at == 0 or not _is_one_reset(present(column)):
            place = f"trace.{name}.{at}"
            yield Refusal(place, "negative", f"{place} is {column[at]:g}; an energy counter can't be below 0.")


def _is_one_reset(readings: Array) -> bool:
    falls = np.flatnonzero(np.diff(readings) < 0)
    if falls.size != 1:
        return False
    before = int(falls[0])
    rest = readings[before + 2 :]
    return not rest.size or bool(rest[0] < readings[before])


def _scores(items: Mapping[str, Any]) -> Iterator[Refusal]:
    for at in np.flatnonzero(items["correct"] > 1)[:1]:
        place, shown = f"items.correct.{at}", items["correct"][at]
        yield Refusal(place, "score_range", f"{place} is {shown:g}; a score is 0 to 1.")


def _spans(run: Mapping[str, Any]) -> Iterator[Refusal]:
    starts, ends = run["items"]["t_start_s"], run["items"]["t_end_s"]
    for i in np.flatnonzero(ends < starts)[:1]:
        words = f"Item {i} ends at {ends[i]:g} s, before its start at {starts[i]:g} s."
        yield Refusal(f"items.t_end_s.{i}", "end_before_start", words)
    for i, phase in enumerate(run.get("ledger") or ()):
        if phase["t_end_s"] < phase["t_start_s"]:
            yield Refusal(
                f"ledger.{i}.t_end_s",
                "end_before_start",
                f"{phase['phase']} ends at {phase['t_end_s']} s, before its start at {phase['t_start_s']} s.",
            )


def _first_outside(column: Array) -> int | None:
    outside = (column < 0) | (column > HIGHEST)
    return int(outside.argmax()) if outside.any() else None


def _listed(words: frozenset[str]) -> str:
    return ", ".join(sorted(words))
