"""The rules that a run must pass before anybody sees it. Pure: no Django, no I/O."""

from bench.verification.comparison import Comparison, comparisons
from bench.verification.flags import FLAGS
from bench.verification.gate import Evidence, Gate, GateResult, Severity
from bench.verification.quarantine import QUARANTINE
from bench.verification.refusals import Refusal, bundle_refusals

GATES = (*QUARANTINE, *FLAGS)

__all__ = [
    "FLAGS",
    "GATES",
    "QUARANTINE",
    "Comparison",
    "Evidence",
    "Gate",
    "GateResult",
    "Refusal",
    "Severity",
    "bundle_refusals",
    "comparisons",
    "judge",
]


def judge(evidence: Evidence) -> list[GateResult]:
    """Every gate's results, those that hold the run first, then marks, then what passed or did not apply."""
    results = [result for gate in GATES for result in gate.results(evidence)]
    return sorted(results, key=lambda result: (result.passed is not False, result.severity != Severity.QUARANTINE))
