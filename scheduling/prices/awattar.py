"""aWATTar: hourly day-ahead prices of Germany and Austria, no key. Be gentle: it answers for everybody for nothing.

Options: ``{"country": "de"}`` or ``{"country": "at"}``.
"""

from datetime import datetime
from typing import Any

import httpx2

from scheduling.errors import NotYetPublished, PriceFeedError
from scheduling.prices import http
from scheduling.prices.answers import from_unix, json_of, member, option
from scheduling.prices.types import Fetched, Options, SpotPoint
from scheduling.prices.units import currency_and_factor, per_kwh

URLS = {"de": "https://api.awattar.de/v1/marketdata", "at": "https://api.awattar.at/v1/marketdata"}
NAME = "aWATTar"


class Awattar:
    def fetch(self, client: httpx2.Client, options: Options, *, start: datetime, end: datetime) -> Fetched:
        country = option(options, "country", NAME)
        asked = {"start": int(start.timestamp()) * 1000, "end": int(end.timestamp()) * 1000}
        return parse(http.get(client, _url(country), asked), country)


def _url(country: str) -> str:
    if country not in URLS:
        raise PriceFeedError(f"{NAME} serves {', '.join(URLS)}, not {country!r:.20}.", permanent=True)
    return URLS[country]


def parse(raw: bytes, country: str) -> Fetched:
    rows = member(json_of(raw, NAME), "data", list, NAME)
    if not rows:
        raise NotYetPublished(f"{NAME} has no prices of {country} for this time yet.")
    points = tuple(sorted(_point(row) for row in rows))
    return Fetched(f"awattar/{country}/day-ahead/{points[0].start:%Y-%m-%dT%H:%MZ}", "EUR", points)


def _point(row: Any) -> SpotPoint:
    _, factor = currency_and_factor(member(row, "unit", str, NAME))
    start, end = (member(row, f"{which}_timestamp", int, NAME) // 1000 for which in ("start", "end"))
    return SpotPoint(from_unix(start, NAME), from_unix(end, NAME), per_kwh(row.get("marketprice"), factor))
