"""Prices from a file: columns `start` and `end` (ISO 8601 with an offset), and `price_per_kwh` or `price_per_mwh`."""

import csv
from datetime import UTC, datetime
from decimal import Decimal
from hashlib import sha256
from io import StringIO

from scheduling.errors import PricesRefused
from scheduling.prices.types import Fetched, SpotPoint
from scheduling.prices.units import per_kwh

FACTORS = {"price_per_kwh": Decimal(1), "price_per_mwh": Decimal("0.001")}


def parse(raw: bytes, currency: str) -> Fetched:
    """Read a file of prices in `currency`; raises PricesRefused naming the line."""
    try:
        rows = list(csv.DictReader(StringIO(raw.decode("utf-8-sig"))))
    except (UnicodeDecodeError, csv.Error) as error:
        raise PricesRefused(f"The file can't be read as CSV in UTF-8: {error}.") from None
    column = next((name for name in FACTORS if rows and name in rows[0]), None)
    if column is None or not {"start", "end"} <= set(rows[0]):
        raise PricesRefused("The file needs rows under a head with start, end and price_per_kwh or price_per_mwh.")
    points = tuple(_point(row, column, line) for line, row in enumerate(rows, start=2))
    return Fetched(f"csv/{sha256(raw).hexdigest()[:16]}", currency, points)


def _point(row: dict[str, str], column: str, line: int) -> SpotPoint:
    try:
        begin, end = (datetime.fromisoformat(row[name]) for name in ("start", "end"))
        price = Decimal(row[column])
    except (TypeError, ValueError, ArithmeticError):
        raise PricesRefused(f"Line {line} can't be read: {', '.join(str(v) for v in row.values())!r:.100}.") from None
    if begin.tzinfo is None or end.tzinfo is None:
        raise PricesRefused(f"Line {line} has a time without an offset; write 2026-08-20T09:00+02:00.")
    if not price.is_finite():
        raise PricesRefused(f"Line {line} has {row[column]!r:.40} where a price should be.")
    return SpotPoint(begin.astimezone(UTC), end.astimezone(UTC), per_kwh(price, FACTORS[column]))


def stored_point(start: str, end: str, price_per_kwh: str) -> SpotPoint:
    """Read a point back that was set aside."""
    return SpotPoint(datetime.fromisoformat(start), datetime.fromisoformat(end), Decimal(price_per_kwh))
