"""JSON values as what they are meant to be, or None. Pure."""

import math
from datetime import UTC, datetime


def finite_number(value: object) -> float | None:
    """A JSON number that is one; a boolean, NaN or a number beyond all floats is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def instant(value: object) -> datetime | None:
    """An ISO 8601 time with an offset, in UTC."""
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
        return at.astimezone(UTC) if at is not None and at.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def text(value: object) -> str | None:
    """A text that says something."""
    return value if isinstance(value, str) and value else None
