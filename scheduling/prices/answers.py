"""Small readers that every JSON source shares."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from scheduling.errors import PriceFeedError
from scheduling.prices.types import Options


def json_of(raw: bytes, source: str) -> Any:
    """Return the answer with its numbers as Decimal, digit for digit."""
    try:
        return json.loads(raw, parse_float=Decimal)
    except ValueError:
        raise PriceFeedError(f"{source} answers with something that is no JSON: {raw[:60]!r}.") from None


def member(data: Any, name: str, kind: type, source: str) -> Any:
    """Return a member of an object, of the right kind."""
    value = data.get(name) if isinstance(data, Mapping) else None
    if not isinstance(value, kind):
        raise PriceFeedError(f"{source} answers without a readable {name!r}; its format may have changed.")
    return value


def from_unix(seconds: Any, source: str) -> datetime:
    try:
        return datetime.fromtimestamp(0, UTC) + timedelta(seconds=int(seconds))
    except (TypeError, ValueError, OverflowError):
        raise PriceFeedError(f"{source} gives {seconds!r:.40} where a Unix time should be.") from None


def option(options: Options, name: str, source: str) -> str:
    """Return a setting of a feed."""
    if not options.get(name):
        raise PriceFeedError(f"The feed of {source} has no option {name!r}; add it in the admin.", permanent=True)
    return str(options[name])
