"""A fixed tariff by weekday and wall time. It needs no network, and is known as far ahead as anybody asks."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from scheduling.prices.periods import expanded, periods_from
from scheduling.prices.types import SpotPoint


def fixed_points(
    rows: Sequence[Mapping[str, Any]], zone: ZoneInfo, start: datetime, end: datetime
) -> tuple[SpotPoint, ...]:
    return tuple(expanded(periods_from(rows), zone, start, end))
