"""The moderation log, entry by entry."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bench.models import Decision, ReviewStatus


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision in words. `is_public` says whether the run can be looked at now."""

    at: datetime
    words: str
    run_id: str
    model: str
    on: str
    decider: str
    reason: str
    note: str
    state: str
    is_public: bool


def entry(logged: Mapping[str, Any]) -> Entry:
    status = ReviewStatus(logged["status"])
    return Entry(
        at=logged["at"],
        words=Decision.Action(logged["action"]).label,
        run_id=logged["run_id"],
        model=logged["model"],
        on=" · ".join(part for part in (logged["task"], logged["gpu_class"]) if part),
        decider=logged["decider"],
        reason=logged["reason"],
        note=logged["note"],
        state=status.label,
        is_public=status == ReviewStatus.PUBLISHED,
    )
