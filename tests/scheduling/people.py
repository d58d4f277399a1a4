"""Workflows, plans and reports of the tests, in few words."""

from datetime import UTC, datetime, timedelta
from typing import Any

from accounts.models import User
from scheduling.models import Market, Placement, ScheduleVersion, Workflow
from scheduling.prices.types import Fetched
from scheduling.services.planning import account_plan
from scheduling.services.prices import document_store
from scheduling.services.workflows import workflow_create
from tests.scheduling.prices import hours

NOON = datetime(2026, 8, 20, 12, tzinfo=UTC)
MIDNIGHT = datetime(2026, 8, 20, tzinfo=UTC)


def make_workflow(account: User, *, now: datetime = NOON, **fields: Any) -> Workflow:
    """An hour of 300 W every night by 7, unless said otherwise."""
    defaults: dict[str, Any] = {
        "name": "nightly",
        "framework": "command",
        "est_duration_s": 3600.0,
        "nameplate_watts": 300.0,
        "deadline": "by 7am",
        "recurrence": "daily",
    }
    return workflow_create(account=account, now=now, **{**defaults, **fields})


def make_market(*prices: float, start: datetime = MIDNIGHT, slug: str = "hourly", minutes: int = 60) -> Market:
    """The default market, with prices from `start` on."""
    Market.objects.filter(is_default=True).update(is_default=False)
    fields = {"name": slug, "currency": "EUR", "timezone": "UTC", "is_default": True}
    market, _ = Market.objects.update_or_create(slug=slug, defaults=fields)
    if prices:
        publish(market, *prices, start=start, minutes=minutes)
    return market


def publish(market: Market, *prices: float, start: datetime, minutes: int = 60, now: datetime = NOON) -> Any:
    points = tuple(hours(*prices, start=start, minutes=minutes))
    fetched = Fetched(f"test/{start.isoformat()}/{len(prices)}", market.currency, points)
    return document_store(market=market, source="csv", fetched=fetched, now=now)


def plan(account: User, now: datetime = NOON) -> ScheduleVersion:
    """Plan at once, and return the newest version whether it is new or not."""
    account_plan(account=account, now=now, even_if_not_due=True)
    return ScheduleVersion.objects.filter(account=account).order_by("-number")[0]


def placement_of(version: ScheduleVersion, workflow: Workflow) -> Placement:
    """The first placement of a workflow in a version."""
    return version.placements.filter(workflow=workflow).order_by("deadline")[0]


def at(hour: float, day: int = 20) -> datetime:
    """An hour of a day in August 2026, UTC."""
    return datetime(2026, 8, day, tzinfo=UTC) + timedelta(hours=hour)
