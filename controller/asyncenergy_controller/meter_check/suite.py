"""Run the cases against a meter, and judge what it says."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from asyncenergy_controller.meter_check.adapter import CannotMeasure, Factory
from asyncenergy_controller.meter_check.cases import CASES, Case, Window
from asyncenergy_controller.meter_check.machine import Machine, machine_of

Verdict = Literal["pass", "fail", "skip"]


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What a meter made of one case."""

    case: Case
    result: Verdict
    measured_j: float | None
    note: str = ""
    """Why it failed or was skipped."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.case.name,
            "result": self.result,
            "expected_j": self.case.expected_j,
            "measured_j": self.measured_j,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """What a meter made of all cases."""

    meter: str
    cases: tuple[CaseResult, ...]

    @property
    def passed(self) -> int:
        return self._count("pass")

    @property
    def failed(self) -> int:
        return self._count("fail")

    @property
    def conforms(self) -> bool:
        """Whether something was measured, and nothing wrongly."""
        return self.passed > 0 and self.failed == 0

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        cases = [result.as_dict() for result in self.cases]
        return {"meter": self.meter, "cases": cases, "passed": self.passed, "failed": self.failed}

    def _count(self, verdict: Verdict) -> int:
        return sum(result.result == verdict for result in self.cases)


def check_meter(meter: str, factory: Factory, *, cases: Sequence[Case] = CASES) -> Report:
    """Run all cases, each on a machine of its own with a meter of its own."""
    return Report(meter, tuple(check_case(case, factory) for case in cases))


def check_case(case: Case, factory: Factory) -> CaseResult:
    with machine_of(case) as machine:
        try:
            measured = _measure(machine, case, factory)
        except CannotMeasure as reason:
            return CaseResult(case, "skip", None, str(reason))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a foreign meter raises is a result
            return CaseResult(case, "fail", None, f"raised {type(error).__name__}: {error}")
    return judge(case, measured)


def judge(case: Case, measured_j: Sequence[float | None]) -> CaseResult:
    """Compare what a meter said of each window with what was drawn there."""
    windows = zip(case.windows, measured_j, strict=True)
    faults = [fault for window, joules in windows if (fault := _fault(case, window, joules))]
    known_j = [joules for joules in measured_j if joules is not None and math.isfinite(joules)]
    total_j = sum(known_j) if len(known_j) == len(case.windows) else None
    return CaseResult(case, "fail" if faults else "pass", total_j, faults[0] if faults else "")


def _measure(machine: Machine, case: Case, factory: Factory) -> list[float | None]:
    meter = factory(machine.device)
    try:
        answers = [machine.measure(meter, window) for window in case.windows]
    finally:
        getattr(meter, "close", _nothing)()
    return [None if answer is None else float(answer) for answer in answers]


def _nothing() -> None:
    pass


def _fault(case: Case, window: Window, measured_j: float | None) -> str:
    """Say what is wrong with an answer, nothing where it is right."""
    if measured_j is None:
        return "gave no energy" if case.answer == "energy" else ""
    if case.answer == "none":
        return f"gave {measured_j:.6g} J, though the device did not answer most of the time"
    if not abs(measured_j - window.joules) <= window.tolerance_j:  # not so for NaN either
        return f"gave {measured_j:.6g} J for {window.joules:.6g} J"
    return ""
