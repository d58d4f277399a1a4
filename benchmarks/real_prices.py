"""Recorded day-ahead prices, read where they lie beside the checkout."""

import csv
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

from scheduling.optimizer import PricePoint

PRICES = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "prices"
PRAGUE = ZoneInfo("Europe/Prague")
DAYS = (
    "2025-10-06",
    "2025-11-10",
    "2025-12-15",
    "2026-01-19",
    "2026-02-09",
    "2026-03-10",
    "2026-04-14",
    "2026-05-11",
    "2026-06-15",
)


@cache
def czech_days() -> dict[str, tuple[PricePoint, ...]]:
    """Return the quarter-hourly prices by local date, in EUR per kWh; the rows of a day follow each other in time."""
    rows: dict[str, list[float]] = {}
    for name in ("cz_2025_quarterhourly.csv", "cz_2026_quarterhourly.csv"):
        with (PRICES / name).open() as file:
            for row in csv.DictReader(file):
                rows.setdefault(row["date"], []).append(float(row["price_eur_mwh"]) / 1000)
    return {day: _points(day, prices) for day, prices in rows.items()}


def _points(day: str, prices: list[float]) -> tuple[PricePoint, ...]:
    midnight = datetime.fromisoformat(day).replace(tzinfo=PRAGUE).astimezone(UTC)
    edges = [midnight + timedelta(minutes=15 * n) for n in range(len(prices) + 1)]
    return tuple(PricePoint(a, b, price) for a, b, price in zip(edges, edges[1:], prices, strict=False))


def horizon(day: str, hours: int) -> list[PricePoint]:
    """Return the prices of `hours` hours from noon of `day` on."""
    first = date.fromisoformat(day)
    days = [(first + timedelta(days=n)).isoformat() for n in range(hours // 24 + 2)]
    points = [point for name in days for point in czech_days()[name]]
    noon = datetime(first.year, first.month, first.day, 12, tzinfo=PRAGUE).astimezone(UTC)
    return [point for point in points if noon <= point.start < noon + timedelta(hours=hours)]
