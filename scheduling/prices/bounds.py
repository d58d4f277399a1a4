"""Prices outside of these bounds were never seen for a household: a unit slipped, or the market went mad.

Either way a person looks first.
"""

from collections.abc import Iterable
from decimal import Decimal

from scheduling.prices.types import SpotPoint

LOWEST, HIGHEST = Decimal("-0.6"), Decimal(5)  # EUR per kWh
# roughly what one euro is, to scale the bounds and for nothing else
SCALE = {"SEK": 11, "NOK": 11, "DKK": 8, "CZK": 25, "PLN": 4, "HUF": 400, "RON": 5, "BGN": 2, "JPY": 160, "INR": 90}


def out_of_bounds(points: Iterable[SpotPoint], currency: str) -> str | None:
    """Return a sentence about the first price that can't be believed, None where all can."""
    scale = SCALE.get(currency, 1)
    low, high = LOWEST * scale, HIGHEST * scale
    for point in points:
        if not low <= point.price_per_kwh <= high:
            price = f"{point.price_per_kwh.normalize():f} {currency}/kWh at {point.start.isoformat()}"
            return f"{price} is outside of {low}..{high}: a wrong unit, or a price that a person should confirm."
    return None
