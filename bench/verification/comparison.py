"""Claimed beside recomputed. Pure: no Django, no I/O."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.presentation import with_sign
from bench.verification.gate import Evidence, Gate, Severity, Verdict, unknown

LIMIT_PCT = 1.0

# wire name -> (words, unit); only figures that every client computes in one way
COMPARED: dict[str, tuple[str, str]] = {
    "total_joules_gpu_best": ("GPU energy, best reading", "J"),
    "total_joules_gpu_counter": ("GPU energy, counter", "J"),
    "total_joules_gpu": ("GPU energy, integrated", "J"),
    "n_items": ("Items", ""),
    "n_correct": ("Items correct", ""),
    "accuracy": ("Accuracy", ""),
    "joules_per_correct_answer": ("J per correct answer", "J"),
    "joules_per_token": ("J per token", "J"),
    "joules_per_item": ("J per item", "J"),
    "run_duration_s": ("Duration", "s"),
    "total_completion_tokens": ("Completion tokens", ""),
    "pooled_tokens_per_second": ("Speed, pooled", "tok/s"),
    "mean_gpu_w": ("Mean power", "W"),
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure twice. `difference_pct` is recomputed against claimed, None where it is undefined."""

    name: str
    words: str
    unit: str
    claimed: float
    recomputed: float | None
    difference_pct: float | None

    @property
    def agrees(self) -> bool:
        if self.recomputed is None:
            return False
        if self.difference_pct is None:
            return self.claimed == self.recomputed
        return abs(self.difference_pct) <= LIMIT_PCT

    @property
    def sentence(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        if self.recomputed is None:
            return f"{self.words}: claimed {self.claimed:,.6g}{unit}, and it can't be recomputed."
        shown = f"{self.words}: claimed {self.claimed:,.6g}{unit}, recomputed {self.recomputed:,.6g}{unit}"
        if self.difference_pct is None:
            return f"{shown}."
        return f"{shown} ({with_sign(self.difference_pct)} %, limit {LIMIT_PCT:g} %)."


def comparisons(claimed: Mapping[str, Any], figures: Mapping[str, Any]) -> list[Comparison]:
    """Each figure that was claimed, beside the server's own."""
    return [_compare(name, claimed[name], figures.get(name)) for name in COMPARED if claimed.get(name) is not None]


def _compare(name: str, claimed: float, recomputed: float | None) -> Comparison:
    words, unit = COMPARED[name]
    pct = 100 * (recomputed - claimed) / claimed if recomputed is not None and claimed else None
    return Comparison(name, words, unit, claimed, recomputed, pct)


def recomputed_differs(evidence: Evidence) -> Verdict | list[Verdict]:
    found = comparisons(evidence.claimed, evidence.figures)
    if not found:
        return unknown("no figure was claimed")
    return [Verdict(c.agrees, c.sentence, observed=c.recomputed, limit=c.claimed) for c in found]


GATE = Gate(
    "recomputed_differs",
    Severity.QUARANTINE,
    f"A claimed figure differs from the server's own by over {LIMIT_PCT:g} %.",
    recomputed_differs,
)
