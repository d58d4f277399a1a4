"""Reads of published schedules."""

from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from accounts.models import User
from scheduling.jobs import SHARED_MACHINE
from scheduling.models import Placement, PlanClaim, ScheduleVersion
from scheduling.packing import unpacked


def newest_number(account: User) -> int:
    """The number of the newest version; 0 where there is none."""
    number = PlanClaim.objects.filter(account=account).values_list("last_version", flat=True).first()
    return number or 0


def schedule_since(account: User, after: int) -> ScheduleVersion | None:
    """Return the newest version if its number is above `after`."""
    versions = ScheduleVersion.objects.filter(account=account, number__gt=after)
    return versions.select_related("based_on").defer("certificate_zlib", "based_on__certificate_zlib").first()


def placements_of(version: ScheduleVersion, *, now: datetime, controller_id: str | None = None) -> QuerySet[Placement]:
    """Return what is still ahead or running; with a controller, what that box may run."""
    ahead = version.placements.filter(Q(end=None) | Q(end__gt=now))
    if controller_id is not None:
        ahead = ahead.filter(machine__in=(controller_id, SHARED_MACHINE))
    return ahead.order_by("start", "pk")


def snapshot_of(version: ScheduleVersion) -> dict[str, Any]:
    """Return the prices and the formula that a version's plan was made with."""
    snapshot: dict[str, Any] = unpacked((version.based_on or version).snapshot_zlib)
    return snapshot


PRICE = ("start", "end", "spot_per_kwh", "price_per_kwh", "is_forecast")


def prices_of(version: ScheduleVersion) -> dict[str, Any]:
    """Return the same for readers: with instants, and each price by the names of its parts."""
    snapshot = snapshot_of(version)
    rows = [dict(zip(PRICE, point, strict=True)) for point in snapshot.pop("points")]
    for row in rows:
        row["start"], row["end"] = (datetime.fromisoformat(row[name]) for name in ("start", "end"))
    return {**snapshot, "known_until": datetime.fromisoformat(snapshot["known_until"]), "prices": rows}


def pieces_of(placement: Placement) -> list[dict[str, datetime]]:
    """Return the uninterrupted runs of a placement."""
    return [
        {"start": datetime.fromisoformat(start), "end": datetime.fromisoformat(end)} for start, end in placement.pieces
    ]


def formula_of_version(version: ScheduleVersion) -> dict[str, Any]:
    formula: dict[str, Any] = snapshot_of(version)["formula"]
    return formula


def certificate_of(account: User, number: int) -> dict[str, Any] | None:
    """Return the proof of a version: of the plan that it was published with."""
    version = ScheduleVersion.objects.select_related("based_on").filter(account=account, number=number).first()
    if version is None:
        return None
    planned = version.based_on or version
    certificate = unpacked(planned.certificate_zlib)
    return {
        **certificate,
        "schedule_version": version.number,
        "planned_as_version": planned.number,
        "formula": snapshot_of(version)["formula"],
    }
