"""Writes of prices: taken in, versioned, set aside, forecast."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db import transaction

from asyncenergy import clock
from scheduling.errors import Conflict, PricesRefused
from scheduling.models import Market, PriceDocument, PricePoint
from scheduling.prices import csv_file
from scheduling.prices.bounds import out_of_bounds
from scheduling.prices.coverage import gaps, local_midnight, tidy
from scheduling.prices.forecast import HISTORY_DAYS, forecast_points
from scheduling.prices.layers import change
from scheduling.prices.types import Fetched, SpotPoint
from scheduling.selectors.prices import HORIZON, settled_points
from scheduling.services.claims import accounts_mark_due

FORECAST = "forecast"
CSV = "csv"
Status = PriceDocument.Status


@transaction.atomic
def document_store(
    *, market: Market, source: str, fetched: Fetched, now: datetime | None = None, confirmed: bool = False
) -> PriceDocument | None:
    """Take in one publication; return None where it says nothing new.

    What can't be right is set aside with the reason: refused where it contradicts itself, quarantined where a person
    may confirm it.
    """
    now = now or clock.now()
    try:
        points = _checked(market, fetched)
    except PricesRefused as error:
        return _set_aside(market, source, fetched, now, Status.REFUSED, error.detail, ())
    doubt = None if confirmed else out_of_bounds(points, market.currency)
    if doubt is not None:
        return _set_aside(market, source, fetched, now, Status.QUARANTINED, doubt, points)
    document = _accept(market, source, fetched.document_id, points, now)
    if document is not None:
        forecast_refresh(market=market, now=now)
        accounts_mark_due(market=market, cause="prices", now=now)
    return document


def _checked(market: Market, fetched: Fetched) -> tuple[SpotPoint, ...]:
    if fetched.currency != market.currency:
        raise PricesRefused(f"The prices are in {fetched.currency}, and {market} is in {market.currency}.")
    return tidy(fetched.points)


def _set_aside(
    market: Market,
    source: str,
    fetched: Fetched,
    now: datetime,
    status: str,
    reason: str,
    points: Iterable[SpotPoint],
) -> PriceDocument:
    """Keep what was published for a person to look at; the same document again is kept once."""
    waiting = [[p.start.isoformat(), p.end.isoformat(), str(p.price_per_kwh)] for p in points]
    document, _ = PriceDocument.objects.get_or_create(
        market=market,
        document_id=fetched.document_id,
        status=status,
        reason=reason[:500],
        defaults={"source": source, "fetched_at": now, "waiting": waiting},
    )
    return document


def _accept(
    market: Market, source: str, document_id: str, points: tuple[SpotPoint, ...], now: datetime
) -> PriceDocument | None:
    """Store what is new. Rows are locked by market, so that two fetches can't interleave."""
    if not points:
        return None
    Market.objects.select_for_update().get(pk=market.pk)
    rows = PricePoint.objects.filter(market=market, is_forecast=False, superseded_at=None)
    stored = {_spot(row): row for row in rows.filter(end__gt=points[0].start, start__lt=points[-1].end)}
    difference = change(sorted(stored), points)
    if not difference.new:
        return None
    document = PriceDocument.objects.create(
        market=market, source=source, document_id=document_id, fetched_at=now, status=Status.ACCEPTED
    )
    replaced = [stored[old] for old in difference.superseded]
    PricePoint.objects.filter(pk__in=[row.pk for row in replaced]).update(superseded_at=now)
    versions = {row.start: row.version for row in replaced}
    whole = {part: stored[_containing(difference.superseded, part)] for part in difference.remainders}
    kept = [_row(market, row.document, part, version=row.version + 1) for part, row in whole.items()]
    new = [_row(market, document, point, version=versions.get(point.start, 0) + 1) for point in difference.new]
    PricePoint.objects.bulk_create([*kept, *new], batch_size=2000)
    return document


def _spot(row: PricePoint) -> SpotPoint:
    return SpotPoint(row.start, row.end, row.price_per_kwh)


def _containing(points: Iterable[SpotPoint], part: SpotPoint) -> SpotPoint:
    return next(point for point in points if point.start <= part.start and part.end <= point.end)


def _row(
    market: Market, document: PriceDocument, point: SpotPoint, *, version: int = 1, is_forecast: bool = False
) -> PricePoint:
    return PricePoint(
        market=market,
        document=document,
        start=point.start,
        end=point.end,
        price_per_kwh=point.price_per_kwh,
        version=version,
        is_forecast=is_forecast,
    )


def document_confirm(*, document: PriceDocument, now: datetime | None = None) -> PriceDocument | None:
    """Take in a quarantined document after all: a person has looked at it."""
    if document.status != Status.QUARANTINED:
        words = f"The document is {document.get_status_display()}; only a quarantined one can be confirmed."
        raise Conflict(words, code="not_quarantined")
    points = tuple(csv_file.stored_point(*row) for row in document.waiting)
    fetched = Fetched(document.document_id, document.market.currency, points)
    accepted = document_store(market=document.market, source=document.source, fetched=fetched, now=now, confirmed=True)
    document.delete()
    return accepted


def prices_load_csv(*, market: Market, raw: bytes, now: datetime | None = None) -> PriceDocument | None:
    """Take in a file of prices; raises PricesRefused where it can't be read, naming the line."""
    if market.is_fixed:
        raise PricesRefused(f"{market} is a fixed tariff; change its periods instead.")
    fetched = csv_file.parse(raw, market.currency)
    return document_store(market=market, source=CSV, fetched=fetched, now=now)


@transaction.atomic
def forecast_refresh(*, market: Market, now: datetime | None = None) -> int:
    """Forecast the prices that are not published, to the end of the horizon; return how many points there are."""
    now = now or clock.now()
    zone = ZoneInfo(market.timezone)
    today = now.astimezone(zone).date()
    known = settled_points(market, local_midnight(zone, today - timedelta(days=HISTORY_DAYS)), now + HORIZON)
    end = local_midnight(zone, today + HORIZON + timedelta(days=1))
    holes = gaps(known, local_midnight(zone, today), end)
    points = [point for begin, stop in holes for point in forecast_points(known, zone, begin, stop)]
    document = PriceDocument.objects.create(
        market=market,
        source=FORECAST,
        document_id=f"forecast/{now:%Y-%m-%dT%H:%M:%SZ}",
        fetched_at=now,
        status=Status.ACCEPTED,
    )
    PriceDocument.objects.filter(market=market, source=FORECAST).exclude(pk=document.pk).delete()
    PricePoint.objects.bulk_create([_row(market, document, p, is_forecast=True) for p in points], batch_size=2000)
    return len(points)
