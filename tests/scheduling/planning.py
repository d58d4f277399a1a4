"""Prices and jobs in the fewest words: times are minutes from noon UTC of one day."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from scheduling.optimizer import Job, Plan, PricePoint, plan, verify

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def minute(number: float) -> datetime:
    return NOON + timedelta(minutes=number)


def prices(values: Sequence[float | None], step: int = 60) -> list[PricePoint]:
    """One price every `step` minutes; None is a hole."""
    return [
        PricePoint(minute(step * n), minute(step * (n + 1)), value)
        for n, value in enumerate(values)
        if value is not None
    ]


def job(name: str, minutes: float, opens: float = 0, closes: float = 1440, watts: Any = 1000.0, **more: Any) -> Job:
    return Job(name, minutes * 60, watts, minute(opens), minute(closes), **more)


def sound_plan(points: Sequence[PricePoint], jobs: Sequence[Job], *, now: datetime = NOON, **limits: Any) -> Plan:
    """Plan, and have the plan checked."""
    made = plan(points, jobs, now=now, **limits)
    kept = {key: value for key, value in limits.items() if key in ("capacity", "watt_limit")}
    assert verify(made, points, jobs, now=now, **kept) == []
    assert made.lower_bound <= made.cost + 1e-9
    return made


def starts(made: Plan) -> dict[str, float]:
    """Minutes from noon at which each job starts."""
    return {p.id: (p.start - NOON) / timedelta(minutes=1) for p in made.placements}


def pieces(made: Plan, name: str) -> list[tuple[float, float]]:
    (placement,) = [p for p in made.placements if p.id == name]
    return [((p.start - NOON) / timedelta(minutes=1), (p.end - NOON) / timedelta(minutes=1)) for p in placement.pieces]


def reasons(made: Plan) -> dict[str, str]:
    return {i.id: i.reason for i in made.infeasible}
