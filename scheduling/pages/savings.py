"""What was saved, by month, for chart and table."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from scheduling.selectors.savings import Month

LATEST = 12


@dataclass(frozen=True, slots=True)
class Ledger:
    """The last months in one currency, oldest first, and their sums."""

    currency: str
    months: list[Month]

    @property
    def runs(self) -> int:
        return sum(month.runs for month in self.months)

    @property
    def energy_wh(self) -> float:
        return sum(month.energy_wh for month in self.months)

    @property
    def cost(self) -> Decimal:
        return sum((month.cost for month in self.months), Decimal(0))

    @property
    def saved_at_once(self) -> Decimal:
        return sum((month.saved_against_earliest for month in self.months), Decimal(0))

    @property
    def saved_random(self) -> Decimal:
        return sum((month.saved_against_random for month in self.months), Decimal(0))

    @property
    def unsettled(self) -> int:
        return sum(month.unsettled_runs for month in self.months)

    @property
    def predicted(self) -> int:
        return sum(month.predicted_runs for month in self.months)


def ledgers(months: Sequence[Month]) -> list[Ledger]:
    """One ledger a currency, that of the newest month first; `months` come newest first."""
    currencies = list(dict.fromkeys(month.currency for month in months))
    return [Ledger(c, [m for m in months if m.currency == c][:LATEST][::-1]) for c in currencies]
