"""ComEd (Northern Illinois): prices of five minutes in cents per kWh, known only after the fact, no key.

A time stamp names the end of its five minutes. The addresses take the wall time of Chicago. A market with this source
is planned on a forecast throughout.
"""

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx2

from scheduling.errors import NotYetPublished, PriceFeedError
from scheduling.prices import http
from scheduling.prices.answers import from_unix, json_of, member
from scheduling.prices.types import Fetched, Options, SpotPoint
from scheduling.prices.units import currency_and_factor, per_kwh

URL = "https://hourlypricing.comed.com/api"
NAME = "ComEd"
ZONE = ZoneInfo("America/Chicago")
STEP = timedelta(minutes=5)
CURRENCY, FACTOR = currency_and_factor("c/kWh")


class ComEd:
    def fetch(self, client: httpx2.Client, options: Options, *, start: datetime, end: datetime) -> Fetched:
        begin, stop = (f"{at.astimezone(ZONE):%Y%m%d%H%M}" for at in (start, end))
        return parse(http.get(client, URL, {"type": "5minutefeed", "datestart": begin, "dateend": stop}))


def parse(raw: bytes) -> Fetched:
    rows = json_of(raw, NAME)
    if not isinstance(rows, list):
        raise PriceFeedError(f"{NAME} answers without a list of prices; its format may have changed.")
    if not rows:
        raise NotYetPublished(f"{NAME} has no prices for this time yet.")
    points = tuple(sorted({_point(row) for row in rows}))
    return Fetched(f"comed/real-time/{points[0].start:%Y-%m-%dT%H:%MZ}", CURRENCY, points)


def _point(row: Any) -> SpotPoint:
    stamp = member(row, "millisUTC", str, NAME)
    if not stamp.isdigit():
        raise PriceFeedError(f"{NAME} gives {stamp!r:.40} where a Unix time should be.")
    end = from_unix(int(stamp) // 1000, NAME)
    return SpotPoint(end - STEP, end, per_kwh(row.get("price"), FACTOR))
