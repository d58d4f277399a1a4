"""Prices fetched from their sources: when they are due, from the next source where one fails, again after a pause."""

import logging
from collections.abc import Iterable
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

import httpx2
from django.conf import settings
from django.db.models import Q

from asyncenergy import clock
from scheduling.errors import NotYetPublished, PriceFeedError
from scheduling.humantime import at_wall
from scheduling.models import Feed, Market, PriceDocument, SchedulingAccount
from scheduling.prices import SOURCES, http
from scheduling.prices.coverage import gaps, local_midnight
from scheduling.prices.forecast import HISTORY_DAYS
from scheduling.selectors.prices import settled_points
from scheduling.services.prices import FORECAST, document_store, forecast_refresh

PUBLISHED_AT = time(12, 45)  # the coupled auction's results appear about 13:00
BACK_OFF = timedelta(minutes=5)
LONGEST_BACK_OFF = timedelta(minutes=30)
BACKFILL_EVERY = timedelta(hours=20)
AFTERWARDS_EVERY = timedelta(minutes=30)  # prices that are known only afterwards
logger = logging.getLogger(__name__)


def feeds_fetch_due(*, now: datetime | None = None) -> int:
    """Fetch what is due for all markets that somebody uses; return how many publications were new."""
    now = now or clock.now()
    markets = markets_in_use()
    due = [market for market in markets if any(_is_due(feed, now) for feed in usable_feeds(market))]
    new = 0
    if due:
        with http.client() as client:
            new = sum(market_fetch(market=market, client=client, now=now) for market in due)
    for market in markets:
        _forecast_if_stale(market, now)
    return new


def _is_due(feed: Feed, now: datetime) -> bool:
    return feed.next_attempt_at is None or feed.next_attempt_at <= now


def markets_in_use() -> list[Market]:
    """Markets with feeds that an account has chosen, or that are the default."""
    chosen = SchedulingAccount.objects.filter(market__isnull=False).values("market")
    used = Market.objects.filter(Q(pk__in=chosen) | Q(is_default=True), feeds__is_enabled=True)
    return list(used.distinct().order_by("pk"))


def market_fetch(*, market: Market, client: httpx2.Client, now: datetime) -> int:
    """Ask the market's sources in order until its prices are complete; return how many publications were new."""
    new = 0
    for feed in usable_feeds(market):
        if not _is_due(feed, now):
            continue
        document = _ask(feed, client, now)
        new += document is not None and document.status == PriceDocument.Status.ACCEPTED
        if _is_complete(market, now):
            _rest(usable_feeds(market), market, now)
            break
    return new


def usable_feeds(market: Market) -> list[Feed]:
    """The enabled sources, first choice first; one that needs a key which is not there is passed over."""
    feeds = list(market.feeds.filter(is_enabled=True).order_by("position", "pk"))
    return [feed for feed in feeds if feed.source != Feed.Kind.ENTSOE or settings.ENTSOE_TOKEN]


def wanted_until(market: Market, now: datetime) -> datetime:
    """The end of tomorrow in the delivery zone, once it may be published; before, the end of today."""
    if market.after_the_fact:
        return now
    zone = ZoneInfo(market.timezone)
    today = now.astimezone(zone).date()
    published = at_wall(datetime.combine(today, PUBLISHED_AT), zone, edge="start")
    return local_midnight(zone, today + timedelta(days=2 if now >= published else 1))


def _today(market: Market, now: datetime) -> datetime:
    zone = ZoneInfo(market.timezone)
    return local_midnight(zone, now.astimezone(zone).date())


def _is_complete(market: Market, now: datetime) -> bool:
    begin, end = _today(market, now), wanted_until(market, now)
    return not market.after_the_fact and not gaps(settled_points(market, begin, end), begin, end)


def _ask(feed: Feed, client: httpx2.Client, now: datetime) -> PriceDocument | None:
    """Ask one source; whatever comes of it is written on the feed, in words."""
    begin, backfills = _begin(feed, now)
    feed.last_attempt_at = now
    try:
        fetched = SOURCES[feed.source].fetch(client, feed.options, start=begin, end=wanted_until(feed.market, now))
        document = document_store(market=feed.market, source=feed.source, fetched=fetched, now=now)
    except NotYetPublished as error:
        _note(feed, now, error.detail, failed=False)
        return None
    except PriceFeedError as error:
        logger.warning("%s: %s", feed, error.detail)
        _note(feed, now, error.detail, failed=True)
        return None
    if document is not None and document.status != PriceDocument.Status.ACCEPTED:
        _note(feed, now, document.reason, failed=True)
        return None
    feed.backfilled_at = now if backfills else feed.backfilled_at
    feed.last_success_at = now
    _note(feed, now, "", failed=False)
    return document


def _begin(feed: Feed, now: datetime) -> tuple[datetime, bool]:
    """From today on; once a day from the first hole in what a forecast looks back on."""
    begin = _today(feed.market, now)
    if feed.backfilled_at is not None and now - feed.backfilled_at < BACKFILL_EVERY:
        return begin, False
    back = begin - timedelta(days=HISTORY_DAYS)
    holes = gaps(settled_points(feed.market, back, begin), back, begin)
    return (holes[0][0] if holes else begin), True


def _note(feed: Feed, now: datetime, error: str, *, failed: bool) -> None:
    """Try again after a pause that grows with each failure, and never stop trying."""
    feed.failures = feed.failures + 1 if failed else 0
    pause = min(BACK_OFF * 2 ** min(feed.failures, 8), LONGEST_BACK_OFF)
    feed.next_attempt_at = now + (AFTERWARDS_EVERY if feed.market.after_the_fact and not failed else pause)
    feed.last_error = error[:500]
    feed.save(
        update_fields=[
            "last_attempt_at",
            "last_success_at",
            "backfilled_at",
            "next_attempt_at",
            "failures",
            "last_error",
        ]
    )


def _rest(feeds: Iterable[Feed], market: Market, now: datetime) -> None:
    """Everything is here: nobody is asked before there can be more."""
    zone = ZoneInfo(market.timezone)
    today = now.astimezone(zone).date()
    published = [at_wall(datetime.combine(today + timedelta(days=i), PUBLISHED_AT), zone, edge="start") for i in (0, 1)]
    for feed in feeds:
        feed.next_attempt_at = published[0] if now < published[0] else published[1]
        feed.save(update_fields=["next_attempt_at"])


def _forecast_if_stale(market: Market, now: datetime) -> None:
    """The forecast is made with every publication; where none comes, with every new day."""
    forecasts = PriceDocument.objects.filter(market=market, source=FORECAST)
    made = forecasts.values_list("fetched_at", flat=True).first()
    if made is not None and made < _today(market, now):
        forecast_refresh(market=market, now=now)
