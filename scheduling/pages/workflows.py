"""One workflow as its page shows it: what is expected of it, when it is due, how it went."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any

from scheduling.models import Occurrence, RunRecord, Workflow
from scheduling.pages.runs import Line, line_of
from scheduling.pages.words import METHODS, missing_in_words
from scheduling.predictor import Prediction, Unpredictable, predict
from scheduling.selectors.predictions import known_of
from scheduling.selectors.workflows import occurrences_ahead, runs_with_plans

LATEST = 10


@dataclass(frozen=True, slots=True)
class Expected:
    """What a run is expected to take, or why nobody can say."""

    prediction: Prediction | None
    method: str
    missing: str


def context(workflow: Workflow, now: datetime) -> dict[str, Any]:
    runs = latest_runs(workflow)
    differences = [line.difference for line in runs if line.difference is not None and line.is_done]
    return {
        "workflow": workflow,
        "expected": expected(workflow),
        "upcoming": _upcoming(occurrences_ahead([workflow], now)),
        "runs": runs,
        "differences": differences,
        "difference": median(differences) if differences else None,
        "is_controller_known": _is_controller_known(workflow),
    }


def expected(workflow: Workflow) -> Expected:
    found = predict(known_of(workflow))
    if isinstance(found, Unpredictable):
        return Expected(None, "", missing_in_words(found.sentence))
    return Expected(found, METHODS[found.method], "")


def latest_runs(workflow: Workflow) -> list[Line]:
    rows: Iterable[RunRecord] = runs_with_plans(workflow.account).filter(workflow=workflow)[:LATEST]
    return [line_of(run) for run in rows]


def _upcoming(rows: Iterable[Occurrence]) -> list[Occurrence]:
    return sorted(rows, key=lambda one: (one.deadline, one.pk))


def _is_controller_known(workflow: Workflow) -> bool:
    named = workflow.controller_id
    return named is None or workflow.account.controllers.filter(controller_id=named).exists()
