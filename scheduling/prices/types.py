"""What a source of prices gives."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

import httpx2

Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True, order=True)
class SpotPoint:
    """The market's price of one kWh from `start` to `end` (UTC, half-open), without fees and taxes."""

    start: datetime
    end: datetime
    price_per_kwh: Decimal


@dataclass(frozen=True, slots=True)
class Fetched:
    """One answer of a source. `document_id` names the publication, with its auction where a source has several."""

    document_id: str
    currency: str
    points: tuple[SpotPoint, ...]


class Source(Protocol):
    """A place where prices are published."""

    def fetch(self, client: httpx2.Client, options: Options, *, start: datetime, end: datetime) -> Fetched:
        """Return the prices between two instants.

        Raises NotYetPublished where there are none yet, and PriceFeedError where there is no usable answer.
        """
        ...
