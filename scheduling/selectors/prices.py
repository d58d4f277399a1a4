"""Reads of prices: what is published, what is expected, and what an account pays."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import QuerySet

from accounts.models import User
from asyncenergy import clock
from scheduling.errors import NotFound
from scheduling.models import NOTICES, Market, PricePoint, SchedulingAccount, Tariff
from scheduling.optimizer import PricePoint as OptimizerPoint
from scheduling.prices.coverage import gaps, local_midnight
from scheduling.prices.fixed import fixed_points
from scheduling.prices.layers import touching, underneath
from scheduling.prices.tariff import Formula, formula_from, payable_points
from scheduling.prices.types import SpotPoint

HORIZON = timedelta(days=8)


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One kWh from `start` to `end`: on the market, and as paid."""

    start: datetime
    end: datetime
    spot_per_kwh: Decimal
    price_per_kwh: Decimal
    is_forecast: bool


@dataclass(frozen=True, slots=True)
class PriceCurve:
    """All prices of a stretch of time, published ones first, forecasts where there are none."""

    market: Market
    formula: dict[str, Any]
    points: tuple[CurvePoint, ...]
    known_until: datetime
    """The end of the unbroken published prices from the curve's beginning."""

    def optimizer_points(self) -> tuple[OptimizerPoint, ...]:
        """The one place where money in Decimal becomes float."""
        return tuple(OptimizerPoint(p.start, p.end, float(p.price_per_kwh)) for p in self.points)

    def known_share(self, start: datetime, end: datetime) -> float:
        """The share of a stretch of time whose price is published."""
        if end <= start:
            return 1.0
        spans = ((max(p.start, start), min(p.end, end)) for p in self.points if not p.is_forecast)
        known = sum((b - a for a, b in spans if b > a), timedelta())  # exact, unlike a sum of floats
        return known / (end - start)


def default_market() -> Market:
    """Return the market of accounts that have chosen none: the one marked so, else the first."""
    market = Market.objects.order_by("-is_default", "pk").first()
    if market is None:
        raise NotFound("market: a maintainer has to make one")
    return market


def scheduling_account_of(user: User) -> SchedulingAccount:
    """Return what the account has chosen; a row that is not stored where it has chosen nothing."""
    found = SchedulingAccount.objects.select_related("market").filter(user=user).first()
    return found or SchedulingAccount(user=user)


def market_of(account: SchedulingAccount) -> Market:
    return account.market or default_market()


def formula_of(user: User) -> dict[str, Any]:
    """Return the account's formula as a plan keeps it."""
    tariff = Tariff.objects.filter(user=user).first() or Tariff(user=user)
    names = ("supplier_fee", "levies", "grid_fee", "vat")
    fees = {name: str(Decimal(getattr(tariff, name)).normalize()) for name in names}
    return {**fees, "grid_periods": tariff.grid_periods, "timezone": user.timezone}


def formula_read(stored: dict[str, Any]) -> Formula:
    return formula_from(stored, ZoneInfo(stored["timezone"]))


def settled_points(market: Market, start: datetime, end: datetime, *, timezone: str = "UTC") -> list[SpotPoint]:
    """Return the published prices that touch a stretch of time, in order; `timezone` is the account's."""
    if market.is_fixed:
        return list(fixed_points(market.periods, ZoneInfo(market.timezone or timezone), start, end))
    return _stored(market, start, end, is_forecast=False)


def _stored(market: Market, start: datetime, end: datetime, *, is_forecast: bool) -> list[SpotPoint]:
    rows = PricePoint.objects.filter(market=market, is_forecast=is_forecast, superseded_at=None)
    found = rows.filter(end__gt=start, start__lt=end).order_by("start")
    return [SpotPoint(*row) for row in found.values_list("start", "end", "price_per_kwh")]


def price_curve(market: Market, formula: dict[str, Any], start: datetime, end: datetime) -> PriceCurve:
    """Return what an account with `formula` pays from `start` to `end`; time without any price has no point."""
    settled = settled_points(market, start, end, timezone=formula["timezone"])
    expected = [] if market.is_fixed else underneath(_stored(market, start, end, is_forecast=True), settled)
    points = [*_paid(settled, formula, is_forecast=False), *_paid(expected, formula, is_forecast=True)]
    holes = gaps(settled, start, end)
    return PriceCurve(
        market=market,
        formula=formula,
        points=tuple(sorted(points, key=lambda point: point.start)),
        known_until=holes[0][0] if holes else end,
    )


def _paid(spot: Sequence[SpotPoint], formula: dict[str, Any], *, is_forecast: bool) -> list[CurvePoint]:
    return [
        CurvePoint(paid.start, paid.end, touching(spot, paid)[0].price_per_kwh, paid.price_per_kwh, is_forecast)
        for paid in payable_points(spot, formula_read(formula))
    ]


def markets() -> QuerySet[Market]:
    return Market.objects.order_by("name", "pk")


def account_view(user: User) -> dict[str, Any]:
    """Return what an account has chosen, with the defaults of what it has not."""
    choices = scheduling_account_of(user)
    market = market_of(choices)
    return {
        "timezone": user.timezone,
        "market": market.slug,
        "market_name": market.name,
        "currency": market.currency,
        "tariff": Tariff.objects.filter(user=user).first() or Tariff(user=user),
        "watt_limit": choices.watt_limit,
        "notices": {name: bool(choices.notices.get(name)) for name in NOTICES},
        "webhook_url": choices.webhook_url,
        "paused": choices.paused_at is not None,
        "paused_at": choices.paused_at,
    }


def coverage_words(market: Market, now: datetime | None = None) -> str:
    """Say how far a market's prices are known, naming the first stretch that is missing."""
    if market.is_fixed:
        return "a fixed tariff"
    now = now or clock.now()
    zone = ZoneInfo(market.timezone)
    today = now.astimezone(zone).date()
    begin, end = local_midnight(zone, today - timedelta(days=7)), local_midnight(zone, today + timedelta(days=2))
    holes = gaps(settled_points(market, begin, end), begin, now if market.after_the_fact else end)
    if not holes:
        return "complete to the end of tomorrow"
    first, last = holes[0][0].astimezone(zone), holes[0][1].astimezone(zone)
    more = f", and {len(holes) - 1} more gaps" if len(holes) > 1 else ""
    return f"missing from {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} ({market.timezone}){more}"
