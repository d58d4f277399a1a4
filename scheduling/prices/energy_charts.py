"""Energy-Charts (Fraunhofer ISE): day-ahead prices of the European zones, no key.

Options: ``{"bzn": "DE-LU"}``. An answer lists the beginnings of its steps; a step may change within a day.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import httpx2

from scheduling.errors import NotYetPublished
from scheduling.prices import http
from scheduling.prices.answers import from_unix, json_of, member, option
from scheduling.prices.types import Fetched, Options, SpotPoint
from scheduling.prices.units import currency_and_factor, per_kwh

URL = "https://api.energy-charts.info/price"
NAME = "Energy-Charts"
STEPS = tuple(timedelta(minutes=minutes) for minutes in (15, 30, 60))


class EnergyCharts:
    def fetch(self, client: httpx2.Client, options: Options, *, start: datetime, end: datetime) -> Fetched:
        zone = option(options, "bzn", NAME)
        asked = {"bzn": zone, "start": int(start.timestamp()), "end": int(end.timestamp()) - 1}
        return parse(http.get(client, URL, asked), zone)


def parse(raw: bytes, zone: str) -> Fetched:
    answer = json_of(raw, NAME)
    starts = [from_unix(at, NAME) for at in member(answer, "unix_seconds", list, NAME)]
    prices = member(answer, "price", list, NAME)
    currency, factor = currency_and_factor(member(answer, "unit", str, NAME))
    points = _points(starts, prices, factor)
    if not points:
        raise NotYetPublished(f"{NAME} has no prices of {zone} for this time yet.")
    return Fetched(f"energy-charts/{zone}/day-ahead/{points[0].start:%Y-%m-%dT%H:%MZ}", currency, tuple(points))


def _points(starts: Sequence[datetime], prices: Sequence[Any], factor: Decimal) -> list[SpotPoint]:
    """A price that is null is not known, and leaves a hole."""
    rows = sorted(zip(starts, prices, strict=True), key=lambda row: row[0])
    lengths = _lengths([start for start, _ in rows])
    return [
        SpotPoint(start, start + length, per_kwh(price, factor))
        for (start, price), length in zip(rows, lengths, strict=True)
        if price is not None
    ]


def _lengths(starts: Sequence[datetime]) -> list[timedelta]:
    """How long each price holds: until the next, unless a row is missing; then as long as the one before."""
    distances = [b - a for a, b in pairwise(starts)]
    lengths: list[timedelta] = []
    for i, distance in enumerate(distances):
        before = lengths[-1] if lengths else distance
        after = distances[i + 1] if i + 1 < len(distances) else distance
        lengths.append(distance if distance in STEPS and distance in (before, after) else min(before, after))
    return [*lengths, lengths[-1] if lengths else STEPS[-1]] if starts else []
