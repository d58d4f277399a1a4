"""The cheapest time to run in a market, for everybody: spot prices alone, no account and no fees."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from asyncenergy import clock
from scheduling.errors import NotFound
from scheduling.jobs import whole_second
from scheduling.models import Market, PricePoint
from scheduling.optimizer import Job, Plan, plan, random_start_mean
from scheduling.selectors.prices import HORIZON, PriceCurve, price_curve

TIME_LIMIT_S = 2.0
EXAMPLE_RUN, EXAMPLE_DAY = timedelta(hours=4), timedelta(hours=24)
ONE_KW = 1000.0
NO_FEES = {"supplier_fee": "0", "levies": "0", "grid_fee": "0", "vat": "0", "grid_periods": []}


@dataclass(frozen=True, slots=True)
class Window:
    """The cheapest stretch of the asked length before the deadline; prices are means, per kWh in `currency`.

    `published_share` says how much of the time up to the deadline has published prices; the rest is forecast.
    """

    market: str
    market_name: str
    currency: str
    timezone: str
    feasible: bool
    reason: str
    smallest_change: str | None
    start: datetime | None
    end: datetime | None
    price_per_kwh: float | None
    price_now_per_kwh: float | None
    price_random_per_kwh: float | None
    published_share: float


def public_markets() -> list[str]:
    """The markets that can be asked about, by their short names."""
    return list(Market.objects.order_by("slug").values_list("slug", flat=True))


def markets_with_prices(now: datetime) -> list[Market]:
    """Markets whose prices reach beyond `now`, published or expected, by name."""
    ahead = PricePoint.objects.filter(end__gt=now, superseded_at=None).order_by().values("market")
    stored = set(Market.objects.filter(pk__in=ahead).values_list("pk", flat=True))
    return [market for market in Market.objects.order_by("name", "pk") if market.is_fixed or market.pk in stored]


def public_curve(market: Market, now: datetime) -> PriceCurve:
    """The market's own prices from `now` on, as far as anything is planned."""
    formula: dict[str, Any] = {**NO_FEES, "timezone": market.timezone or "UTC"}
    return price_curve(market, formula, now, now + HORIZON)


def todays_example(now: datetime) -> Window | None:
    """The cheapest four hours ahead on the first market with published prices, no forecast among them; else None."""
    known = PricePoint.objects.filter(start__lte=now, end__gt=now, is_forecast=False, superseded_at=None)
    market = Market.objects.filter(pk__in=known.order_by().values("market")).order_by("name", "pk").first()
    if market is None:
        return None
    curve = public_curve(market, now)
    deadline = min(now + EXAMPLE_DAY, curve.known_until)
    if deadline - now < 2 * EXAMPLE_RUN:
        return None
    return cheapest_on(curve, duration_s=EXAMPLE_RUN.total_seconds(), deadline=deadline, earliest=None, now=now)


def cheapest_on(
    curve: PriceCurve, *, duration_s: float, deadline: datetime, earliest: datetime | None, now: datetime
) -> Window:
    """Return where a run of 1 kW would cost least on a curve."""
    begin, end = whole_second(max(earliest or now, now)), min(deadline, now + HORIZON)
    job = Job("asked", duration_s, ONE_KW, begin, end)
    points = curve.optimizer_points()
    made = plan(points, [job], now=now, time_limit_s=TIME_LIMIT_S)
    return _window(curve, job, made, random_start_mean(points, job, now=now) if made.placements else None)


def _window(curve: PriceCurve, job: Job, made: Plan, random_cost: float | None) -> Window:
    kwh = job.duration_s / 3600
    placed = made.placements[0] if made.placements else None
    out = made.infeasible[0] if made.infeasible else None
    return Window(
        market=curve.market.slug,
        market_name=curve.market.name,
        currency=curve.market.currency,
        timezone=curve.formula["timezone"],
        feasible=placed is not None,
        reason=out.reason if out else "",
        smallest_change=out.smallest_change if out else None,
        start=placed.start if placed else None,
        end=placed.end if placed else None,
        price_per_kwh=placed.cost / kwh if placed else None,
        price_now_per_kwh=made.baseline_cost / kwh if placed else None,
        price_random_per_kwh=None if random_cost is None else random_cost / kwh,
        published_share=curve.known_share(job.earliest_start, job.deadline),
    )


def cheapest_window(
    market: str, *, duration_s: float, deadline: datetime, earliest: datetime | None = None, now: datetime | None = None
) -> Window:
    """Raises NotFound for an unknown market."""
    found = Market.objects.filter(slug=market).first()
    if found is None:
        raise NotFound(f"market {market[:40]!r}: there are {', '.join(public_markets())}")
    now = now or clock.now()
    curve = public_curve(found, now)
    return cheapest_on(curve, duration_s=duration_s, deadline=deadline, earliest=earliest, now=now)
