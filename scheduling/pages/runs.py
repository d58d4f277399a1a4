"""Runs as lists and pages show them: predicted against measured, money against both baselines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from bench.presentation import thinned
from scheduling.models import PowerProfile, RunRecord, SavingsEntry
from scheduling.pages.words import METHODS, outcome
from scheduling.rollup import LONGEST_GAP_S
from scheduling.selectors.predictions import SIMULATED, is_measured
from scheduling.selectors.samples import columns_of

SHOWN_SAMPLES = 500


@dataclass(frozen=True, slots=True)
class Line:
    """One run. `predicted_wh` is what its placement said; `measured_wh` None: not measured, `unmeasured` says why."""

    run: RunRecord
    entry: SavingsEntry | None
    started: datetime
    name: str
    outcome: str
    verdict: str
    predicted_wh: float | None
    measured_wh: float | None
    unmeasured: str

    @property
    def is_done(self) -> bool:
        return self.run.exit_status == RunRecord.Exit.SUCCESS

    @property
    def is_piece(self) -> bool:
        """The prediction was for the whole run, and this is a part of it."""
        return self.run.piece_of_attempt is not None

    @property
    def difference(self) -> float | None:
        """Measured over predicted, less one."""
        if self.measured_wh is None or not self.predicted_wh or self.is_piece:
            return None
        return self.measured_wh / self.predicted_wh - 1

    @property
    def saved_at_once(self) -> Decimal | None:
        return _saved(self.entry.earliest_cost, self.entry.cost) if self.entry else None

    @property
    def saved_random(self) -> Decimal | None:
        return _saved(self.entry.random_cost, self.entry.cost) if self.entry else None


def _saved(otherwise: Decimal | None, cost: Decimal | None) -> Decimal | None:
    return None if otherwise is None or cost is None else otherwise - cost


def line_of(run: RunRecord) -> Line:
    """`run` comes with its workflow, savings and placement, and with what its plan predicted."""
    entry: SavingsEntry | None = getattr(run, "savings", None)
    word, verdict = outcome(run.exit_status)
    return Line(
        run=run,
        entry=entry,
        started=run.actual_start or run.scheduled_start or run.ts,
        name=run.workflow.name if run.workflow else "no workflow of yours",
        outcome=word,
        verdict=verdict,
        predicted_wh=entry.predicted_wh if entry else getattr(run, "planned_wh", None),
        measured_wh=run.energy_wh if is_measured(run) else None,
        unmeasured=_unmeasured(run),
    )


def _unmeasured(run: RunRecord) -> str:
    if is_measured(run):
        return ""
    return "its meter was simulated" if run.energy_source == SIMULATED else "the controller sent no energy"


@dataclass(frozen=True, slots=True)
class Sample:
    """Power at a time from the start of the run; None where it was not read."""

    minutes: float
    power_w: float | None


@dataclass(frozen=True, slots=True)
class Step:
    """What the plan expected: so many watts from one minute to another."""

    begin: float
    end: float
    watts: float


def context(run: RunRecord) -> dict[str, Any]:
    line = line_of(run)
    columns = columns_of(run)
    times, power = columns["t_s"], columns["power_w"]
    start = line.started.timestamp()
    placement = line.entry.placement if line.entry else None
    profile: PowerProfile | None = getattr(run, "profile", None)
    return {
        "run": run,
        "line": line,
        "entry": line.entry,
        "placement": placement,
        "method": METHODS.get((placement.prediction_method if placement else None) or "", ""),
        "profile": profile,
        "samples": list(_samples(times, power, start)),
        "total_samples": len(times),
        "has_power": any(watts is not None for watts in power),
        "steps": _steps(placement.profile) if placement else [],
    }


def _samples(times: Sequence[float], power: Sequence[float | None], start: float) -> Iterator[Sample]:
    """Enough samples for a picture; where nothing was read for a while, a missing one stands between."""
    holes = [i for i in range(1, len(times)) if times[i] - times[i - 1] > LONGEST_GAP_S]
    before = 0
    for i in thinned(power, SHOWN_SAMPLES):
        if any(before < hole <= i for hole in holes):
            yield Sample((times[i] + times[before]) / 120 - start / 60, None)
        yield Sample((times[i] - start) / 60, power[i])
        before = i


def _steps(profile: Sequence[Sequence[float]]) -> list[Step]:
    steps: list[Step] = []
    begin = 0.0
    for seconds, watts in profile:
        steps.append(Step(begin, begin + seconds / 60, watts))
        begin += seconds / 60
    return steps
