"""Prices for the tests of scheduling, and the recorded ones beside the checkout."""

import csv
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

from scheduling.humantime import at_wall
from scheduling.prices.types import SpotPoint

PRAGUE = ZoneInfo("Europe/Prague")
START = datetime(2026, 8, 20, 0, tzinfo=UTC)


def hours(*prices: float, start: datetime = START, minutes: int = 60) -> list[SpotPoint]:
    """Prices one after another, each for `minutes`."""
    step = timedelta(minutes=minutes)
    return [SpotPoint(start + i * step, start + (i + 1) * step, Decimal(str(p))) for i, p in enumerate(prices)]


@cache
def czech_quarters(folder: Path) -> dict[date, list[SpotPoint]]:
    """All recorded days of quarter-hours by their local date, in EUR per kWh; missing days are missing."""
    days: dict[date, list[SpotPoint]] = {}
    for name in ("cz_2025_quarterhourly.csv", "cz_2026_quarterhourly.csv"):
        with (folder / "prices" / name).open() as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            day = date.fromisoformat(row["date"])
            days.setdefault(day, []).append(_next(days.get(day, []), day, row))
    return days


def _next(before: list[SpotPoint], day: date, row: dict[str, str]) -> SpotPoint:
    """Rows follow one another in time: that tells the hour that comes twice from the one that doesn't come."""
    start = before[-1].end if before else at_wall(datetime(day.year, day.month, day.day), PRAGUE, edge="start")
    wall = start.astimezone(PRAGUE)
    said = row["time_from"].replace("a", "").replace("b", "")
    assert f"{wall:%H:%M}" == said, (row, wall)
    return SpotPoint(start, start + timedelta(minutes=15), Decimal(row["price_eur_mwh"]) / 1000)
