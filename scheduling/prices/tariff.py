"""What the user pays for one kWh: (spot + supplier fee + grid fee + levies) x (1 + VAT)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from scheduling.prices.layers import touching
from scheduling.prices.periods import Period, expanded, periods_from
from scheduling.prices.types import SpotPoint


@dataclass(frozen=True, slots=True)
class Formula:
    """Fees in currency per kWh before VAT; the grid fee may depend on weekday and wall time in `zone`."""

    supplier_fee: Decimal = Decimal(0)
    levies: Decimal = Decimal(0)
    grid_fee: Decimal = Decimal(0)
    vat: Decimal = Decimal(0)
    grid_periods: tuple[Period, ...] = ()
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))

    def payable(self, spot: Decimal, grid: Decimal) -> Decimal:
        return (spot + self.supplier_fee + grid + self.levies) * (1 + self.vat)


def formula_from(stored: Mapping[str, Any], zone: ZoneInfo) -> Formula:
    """Read a formula as a plan keeps it; raises PricesRefused for periods that can't be read."""
    fees = {name: Decimal(str(stored.get(name, 0))) for name in ("supplier_fee", "levies", "grid_fee", "vat")}
    return Formula(**fees, grid_periods=periods_from(stored.get("grid_periods", ()), whole_week=False), zone=zone)


def payable_points(spot: Sequence[SpotPoint], formula: Formula) -> list[SpotPoint]:
    """Return what is paid; a point is split where the grid fee changes inside it. `spot` is in order."""
    if not spot:
        return []
    # outside of all periods the flat grid fee holds
    periods = (*formula.grid_periods, Period(frozenset(range(7)), 0, 24 * 60, formula.grid_fee))
    fees = expanded(periods, formula.zone, spot[0].start, spot[-1].end)
    return [
        SpotPoint(
            max(point.start, fee.start),
            min(point.end, fee.end),
            formula.payable(point.price_per_kwh, fee.price_per_kwh),
        )
        for point in spot
        for fee in touching(fees, point)
    ]
