"""What a gate is: a rule with a name, looked at once for each run. Pure: no Django, no I/O."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """REFUSE: nothing is stored. QUARANTINE: stored, waits for a person. FLAG: public with a mark."""

    REFUSE = "refuse"
    QUARANTINE = "quarantine"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that the gates may look at. `figures` are the server's, `claimed` the submitter's; `run` is the
    run as sent. What is unknown is None, and a gate that needs it does not apply."""

    run: Mapping[str, Any]
    figures: Mapping[str, Any]
    claimed: Mapping[str, Any]
    has_columns: bool
    is_scored_by_server: bool = False
    gpu_class: str | None = None
    idle_w: float | None = None
    empty_memory_mib: float | None = None
    weights_mib: float | None = None
    peer_joules_per_token: float | None = None
    ahead_s: float = 0.0
    is_seen_elsewhere: bool = False
    is_replay: bool = False
    shared_marks: int = 0

    @property
    def trace(self) -> Mapping[str, Any]:
        return self.run.get("trace") or {}

    @property
    def items(self) -> Mapping[str, Any]:
        return self.run.get("items") or {}

    def figure(self, name: str) -> float | None:
        return self.figures.get(name)

    @property
    def limit_w(self) -> float | None:
        """Watts that all devices of the run may draw."""
        limit = self.run.get("power_limit_w") or self.run.get("gpu_stock_power_limit_w")
        return limit * self.device_count if limit else None

    @property
    def device_count(self) -> int:
        count: int = (self.run.get("device") or {}).get("count", 1)
        return count

    @property
    def is_gpu(self) -> bool:
        return bool((self.run.get("device") or {}).get("kind", "gpu") == "gpu")


@dataclass(frozen=True, slots=True)
class Verdict:
    """`passed` is None where the gate does not apply; the sentence shows both numbers. `label` is the
    mark in two or three words, for flags."""

    passed: bool | None
    sentence: str
    observed: float | str | None = None
    limit: float | str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class GateResult:
    """A verdict with the gate's name, as it is stored and shown."""

    code: str
    severity: Severity
    passed: bool | None
    sentence: str
    observed: float | str | None = None
    limit: float | str | None = None
    label: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__} | {"severity": str(self.severity)}


Check = Callable[[Evidence], Verdict | Sequence[Verdict]]


@dataclass(frozen=True, slots=True)
class Gate:
    """`rule` says in words what the gate looks at."""

    code: str
    severity: Severity
    rule: str
    check: Check = field(repr=False)

    def results(self, evidence: Evidence) -> list[GateResult]:
        found = self.check(evidence)
        verdicts = [found] if isinstance(found, Verdict) else found
        return [
            GateResult(self.code, self.severity, one.passed, one.sentence, one.observed, one.limit, one.label)
            for one in verdicts
        ]


def unknown(what: str) -> Verdict:
    """A gate that lacks what it looks at."""
    return Verdict(None, f"Not applied: {what}.")
