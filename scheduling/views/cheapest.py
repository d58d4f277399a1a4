"""When is it cheapest: for any market with prices, without an account."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from asyncenergy import clock
from bench.views.htmx import HtmxRequest, is_swap
from scheduling.forms import CheapestForm
from scheduling.models import Market
from scheduling.pages.curve import Drawing, hour_ceiling, hour_floor
from scheduling.pages.words import reason_in_words
from scheduling.selectors.prices import HORIZON, PriceCurve
from scheduling.selectors.windows import Window as Found
from scheduling.selectors.windows import cheapest_on, markets_with_prices, public_curve
from scheduling.windows import Window

AFTERWARDS = timedelta(hours=2)
KEY = "A"


@dataclass(frozen=True, slots=True)
class Money:
    """What the run costs by spot prices, and what it would cost otherwise; in the market's currency."""

    planned: float
    at_once: float | None
    random: float | None

    @property
    def saved_at_once(self) -> float | None:
        return None if self.at_once is None else self.at_once - self.planned

    @property
    def saved_random(self) -> float | None:
        return None if self.random is None else self.random - self.planned


@gzip_page
@require_safe
def cheapest(request: HtmxRequest) -> HttpResponse:
    """The cheapest time for a job on a market; for htmx only the answer."""
    now = clock.now()
    form = CheapestForm(request.GET, markets_with_prices(now))
    market = form.market_asked
    zone = ZoneInfo(market.timezone if market and market.timezone else "UTC")
    template = "scheduling/cheapest.html" + ("#found" if is_swap(request) else "")
    with timezone.override(zone):
        response = render(request, template, {"section": "schedule", "form": form, **_answer(form, market, zone, now)})
    patch_vary_headers(response, ["HX-Request"])
    return push_url(response, request.path + form.link()) if is_swap(request) else response


def _answer(form: CheapestForm, market: Market | None, zone: ZoneInfo, now: datetime) -> dict[str, Any]:
    window = form.window(zone, now)
    if window is None or market is None:
        return {"market": market, "window": window}
    curve = public_curve(market, now)
    seconds, watts = 3600 * form.asked("hours"), form.asked("watts")
    found = cheapest_on(curve, duration_s=seconds, deadline=window.deadline, earliest=window.earliest_start, now=now)
    return {
        "market": market,
        "currency": found.currency,
        "found": found,
        "window": window,
        "seconds": seconds,
        "watts": watts,
        "energy_wh": watts * seconds / 3600,
        "money": _money(found, watts * seconds / 3.6e6),
        "same_day": _same_day(found, zone),
        "reason_words": reason_in_words(found.reason),
        "at_once_words": "begun now" if window.earliest_start <= now else "begun at the earliest start",
        **_drawn(curve, found, window, now),
    }


def _money(found: Found, kwh: float) -> Money | None:
    prices = (found.price_per_kwh, found.price_now_per_kwh, found.price_random_per_kwh)
    planned, at_once, random = (None if price is None else price * kwh for price in prices)
    return None if planned is None else Money(planned, at_once, random)


def _same_day(found: Found, zone: ZoneInfo) -> bool:
    if found.start is None or found.end is None:
        return False
    return found.start.astimezone(zone).date() == found.end.astimezone(zone).date()


def _drawn(curve: PriceCurve, found: Found, window: Window, now: datetime) -> dict[str, Any]:
    """The curve until shortly after the deadline, with the window and the place of the run."""
    last = curve.points[-1].end if curve.points else now
    end = min(hour_ceiling(min(window.deadline, now + HORIZON) + AFTERWARDS), last)
    drawing = Drawing(hour_floor(now), end, ZoneInfo(found.timezone), now)
    spans = [(found.start, found.end)] if found.start and found.end else []
    slots = drawing.slots(curve.points, found.currency, [(KEY, spans)]) if end > drawing.begin else []
    return {
        "drawing": drawing,
        "slots": slots,
        "has_forecast": any(slot.is_forecast for slot in slots),
        "price_words": "Tariff" if curve.market.is_fixed else "Market price",
        "bar_words": "where the job runs",
        "chart_label": f"Price on {curve.market.name}, with the cheapest place of the job in its window.",
        "lanes": [drawing.lane(KEY, "your job", (window.earliest_start, window.deadline), spans)],
    }
