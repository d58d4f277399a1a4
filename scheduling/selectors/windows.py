"""The cheapest time to run in a market, for everybody: spot prices alone, no account and no fees."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from asyncenergy import clock
from scheduling.errors import NotFound
from scheduling.jobs import whole_second
from scheduling.models import Market
from scheduling.optimizer import Job, plan
from scheduling.selectors.prices import HORIZON, price_curve

TIME_LIMIT_S = 2.0
ONE_KW = 1000.0
NO_FEES = {"supplier_fee": "0", "levies": "0", "grid_fee": "0", "vat": "0", "grid_periods": []}


@dataclass(frozen=True, slots=True)
class Window:
    """The cheapest stretch of the asked length before the deadline; prices are means, per kWh in `currency`.

    `published_share` says how much of the time up to the deadline has published prices; the rest is forecast.
    """

    market: str
    currency: str
    timezone: str
    feasible: bool
    reason: str
    start: datetime | None
    end: datetime | None
    price_per_kwh: float | None
    price_now_per_kwh: float | None
    published_share: float


def public_markets() -> list[str]:
    """The markets that can be asked about, by their short names."""
    return list(Market.objects.order_by("slug").values_list("slug", flat=True))


def cheapest_window(
    market: str, *, duration_s: float, deadline: datetime, earliest: datetime | None = None, now: datetime | None = None
) -> Window:
    """Raises NotFound for an unknown market."""
    found = Market.objects.filter(slug=market).first()
    if found is None:
        raise NotFound(f"market {market[:40]!r}: there are {', '.join(public_markets())}")
    now = now or clock.now()
    begin = whole_second(max(earliest or now, now))
    end = min(deadline, now + HORIZON)
    formula: dict[str, Any] = {**NO_FEES, "timezone": found.timezone or "UTC"}
    curve = price_curve(found, formula, now, now + HORIZON)
    made = plan(
        curve.optimizer_points(), [Job("asked", duration_s, ONE_KW, begin, end)], now=now, time_limit_s=TIME_LIMIT_S
    )
    kwh = duration_s / 3600
    placed = made.placements[0] if made.placements else None
    return Window(
        market=found.slug,
        currency=found.currency,
        timezone=formula["timezone"],
        feasible=placed is not None,
        reason=made.infeasible[0].reason if made.infeasible else "",
        start=placed.start if placed else None,
        end=placed.end if placed else None,
        price_per_kwh=placed.cost / kwh if placed else None,
        price_now_per_kwh=None if placed is None or made.baseline_cost is None else made.baseline_cost / kwh,
        published_share=curve.known_share(begin, end),
    )
