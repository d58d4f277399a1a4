"""Measured sweeps: power caps, clock locks, and every other setting that rows of one machine differ in alone."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from bench.models import BoardSweep


@dataclass(frozen=True, slots=True)
class SweepQuery:
    """`kind` is one of bench.sweeps.KINDS; unknown values give an empty answer."""

    kind: str | None = None
    gpu_class: str | None = None
    model: str | None = None
    task: str | None = None
    limit: int = 100
    offset: int = 0


def sweep_list(query: SweepQuery) -> list[dict[str, Any]]:
    """Sweeps of the published rows: on one machine and task, the stock setting first and the deepest last."""
    found = _matching(query).values_list("payload", flat=True)
    return list(found[query.offset : query.offset + query.limit])


def sweep_count(query: SweepQuery) -> int:
    return _matching(query).count()


def _matching(query: SweepQuery) -> QuerySet[BoardSweep]:
    named = {name: getattr(query, name) for name in ("kind", "gpu_class", "model", "task")}
    return BoardSweep.objects.filter(**{name: value for name, value in named.items() if value})
