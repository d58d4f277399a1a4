"""The log of decisions: what, when, why; never who submitted."""

from typing import Any

from django.db.models import QuerySet

from bench.models import Decision, Run
from bench.selectors.board import MAX_LIMIT

_READ = (
    *("at", "action", "reason_code", "note", "decider"),
    *("run__model", "run__task", "run__gpu_class", "run__status"),
)


def moderation_log(*, limit: int = MAX_LIMIT, offset: int = 0) -> list[dict[str, Any]]:
    """What people decided, newest first: what, when, why; never who submitted."""
    named = _public_decisions().select_related("run").only(*_READ)
    entries = named[offset : offset + limit]
    return [{**decision_words(entry), **_subject(entry.run)} for entry in entries]


def moderation_log_count() -> int:
    return _public_decisions().count()


def decision_words(decision: Decision) -> dict[str, Any]:
    """One decision, for everybody."""
    return {
        "at": decision.at,
        "action": decision.action,
        "reason_code": decision.reason_code,
        "reason": decision.get_reason_code_display(),
        "note": decision.note,
        "decider": decision.decider,
    }


def _public_decisions() -> QuerySet[Decision]:
    return Decision.objects.exclude(action=Decision.Action.QUARANTINE)


def _subject(run: Run) -> dict[str, Any]:
    return {
        "run_id": str(run.pk),
        "model": run.model,
        "task": run.task,
        "gpu_class": run.gpu_class,
        "status": run.status,
    }
