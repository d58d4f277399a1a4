"""Octopus Agile: half-hourly prices of Great Britain, published about 16:00 for 23:00 to 23:00, no key.

Options: ``{"product": "AGILE-24-10-01", "tariff": "E-1R-AGILE-24-10-01-C"}``. Prices are taken without VAT, which the
formula adds. Their delivery day is that of Central Europe: give the market the timezone Europe/Paris.
"""

from datetime import UTC, datetime
from typing import Any

import httpx2

from scheduling.errors import NotYetPublished, PriceFeedError
from scheduling.prices import http
from scheduling.prices.answers import json_of, member, option
from scheduling.prices.types import Fetched, Options, SpotPoint
from scheduling.prices.units import currency_and_factor, per_kwh

URL = "https://api.octopus.energy/v1/products/{product}/electricity-tariffs/{tariff}/standard-unit-rates/"
NAME = "Octopus Agile"
PAGE, MOST_PAGES = 1500, 20
CURRENCY, FACTOR = currency_and_factor("p/kWh")


class Octopus:
    def fetch(self, client: httpx2.Client, options: Options, *, start: datetime, end: datetime) -> Fetched:
        url = URL.format(product=option(options, "product", NAME), tariff=option(options, "tariff", NAME))
        asked = {"period_from": _utc(start), "period_to": _utc(end), "page_size": PAGE}
        pages: list[bytes] = []
        while len(pages) < MOST_PAGES and (not pages or json_of(pages[-1], NAME).get("next")):
            pages.append(http.get(client, url, asked | {"page": len(pages) + 1}))
        return parse(pages, str(options["tariff"]))


def _utc(instant: datetime) -> str:
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")


def parse(pages: list[bytes], tariff: str) -> Fetched:
    """Read the pages of an answer, newest price first."""
    rows = [row for raw in pages for row in member(json_of(raw, NAME), "results", list, NAME)]
    if not rows:
        raise NotYetPublished(f"{NAME} has no prices of {tariff} for this time yet.")
    points = tuple(sorted({_point(row) for row in rows if row.get("payment_method") in (None, "DIRECT_DEBIT")}))
    return Fetched(f"octopus/{tariff}/{points[0].start:%Y-%m-%dT%H:%MZ}", CURRENCY, points)


def _point(row: Any) -> SpotPoint:
    begin, end = (_instant(member(row, name, str, NAME)) for name in ("valid_from", "valid_to"))
    return SpotPoint(begin, end, per_kwh(row.get("value_exc_vat"), FACTOR))


def _instant(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        raise PriceFeedError(f"{NAME} gives {text!r:.40} where a time should be.") from None
