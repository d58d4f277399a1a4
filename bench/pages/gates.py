"""The gates as a page lists them, read from the code that judges."""

from dataclasses import dataclass
from typing import Any

from asyncenergy_controller.wire import MAX_ITEMS, MAX_SAMPLES
from asyncenergy_controller.wire.json_bytes import MAX_NESTING

from asyncenergy.bodylimit import LARGE_BYTES
from bench.pages.sources import Function, function
from bench.verification import FLAGS, QUARANTINE, Gate

REFUSED = {
    "body_too_large": f"The bundle is larger than {LARGE_BYTES // 2**20} MiB.",
    "unreadable": "The body is no JSON in UTF-8, or names a field twice.",
    "too_deep": f"The JSON is nested deeper than {MAX_NESTING} levels.",
    "not_finite": "A number is NaN, infinite, or too large for any number format.",
    "nul": "A text holds the character NUL.",
    "schema": (
        "The version is not known, a field is missing, unknown or of the wrong type, columns of one table differ in "
        f"length, or a run has over {MAX_ITEMS:,} items or {MAX_SAMPLES:,} samples."
    ),
    "private_key": "A field’s name could tell whose machine this is: a serial number, a host name, a hardware id.",
    "private_path": "A value looks like a path on somebody’s machine.",
    "unknown_task": "The task is not known.",
    "unknown_source": "The energy source is not known.",
    "unknown_boundary": "The boundary, which says what was metered, is not known.",
    "simulated": "The energy is simulated, and this server is no demonstration.",
    "negative": "An energy, a time or a count is below 0.",
    "too_large": "A figure is larger than any machine measures.",
    "n_correct_over_n_items": "More answers are right than there are items.",
    "score_range": "A score or an accuracy lies outside 0 to 1.",
    "no_items": "The run has no item.",
    "end_before_start": "An item or a phase ends before it starts.",
    "contradiction": "Two columns of the run contradict each other, as times that do not rise.",
}


@dataclass(frozen=True, slots=True)
class Listed:
    """A gate with its rule in words and the function that judges."""

    code: str
    rule: str
    check: Function


def context() -> dict[str, Any]:
    """What the page of gates shows."""
    return {
        "refused": REFUSED,
        "quarantine": [listed(gate) for gate in QUARANTINE],
        "flags": [listed(gate) for gate in FLAGS],
    }


def listed(gate: Gate) -> Listed:
    return Listed(gate.code, gate.rule, function(gate.check))
