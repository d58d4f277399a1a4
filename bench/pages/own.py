"""The runs of one account, line by line."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bench.models import Decision, ReviewStatus


@dataclass(frozen=True, slots=True)
class Line:
    """A run that was sent. `why` holds what the gates and the maintainers said of it."""

    sent_at: datetime
    run_id: str
    model: str
    on: str
    joules_per_correct_answer: float | None
    state: str
    is_public: bool
    tier: str | None
    why: list[str]


def lines(summaries: Iterable[Mapping[str, Any]]) -> list[Line]:
    """Every run of every submission, in their order."""
    return [_line(summary["received_at"], run) for summary in summaries for run in summary["runs"]]


def _line(sent_at: datetime, run: Mapping[str, Any]) -> Line:
    status = ReviewStatus(run["status"])
    return Line(
        sent_at=sent_at,
        run_id=str(run["id"]),
        model=run["model"] or "unnamed model",
        on=" · ".join(part for part in (run["task"], run["gpu_class"]) if part),
        joules_per_correct_answer=run["joules_per_correct_answer"],
        state=status.label,
        is_public=status == ReviewStatus.PUBLISHED,
        tier=run["tier"],
        why=[*(gate["sentence"] for gate in run["gates"]), *map(_decided, run["decisions"])],
    )


def _decided(decision: Mapping[str, Any]) -> str:
    """What a maintainer did and why: ``Hide: the recording is a copy``."""
    words = [Decision.Action(decision["action"]).label, decision["reason"], decision["note"]]
    return ": ".join(part for part in words if part)
