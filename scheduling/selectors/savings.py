"""Reads of the ledger of savings."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from accounts.models import User
from scheduling.models import SavingsEntry


@dataclass(frozen=True, slots=True)
class Month:
    """One month in one currency. Money is summed over runs whose every price is known; the others are counted.

    `saved_…` is positive where the plan was cheaper, negative where it was dearer. `predicted_runs`: their energy was
    not measured, so that their money is predicted.
    """

    month: date
    currency: str
    runs: int
    predicted_runs: int
    unsettled_runs: int
    energy_wh: float
    predicted_wh: float
    cost: Decimal
    earliest_cost: Decimal
    random_cost: Decimal

    @property
    def saved_against_earliest(self) -> Decimal:
        return self.earliest_cost - self.cost

    @property
    def saved_against_random(self) -> Decimal:
        return self.random_cost - self.cost


def savings_by_month(account: User) -> list[Month]:
    """Return the account's months, newest first."""
    by_month: dict[tuple[date, str], list[SavingsEntry]] = defaultdict(list)
    for entry in SavingsEntry.objects.filter(account=account):
        by_month[entry.on.replace(day=1), entry.currency].append(entry)
    return [_month(*key, entries) for key, entries in sorted(by_month.items(), reverse=True)]


def _month(month: date, currency: str, entries: Iterable[SavingsEntry]) -> Month:
    everything = list(entries)
    known = [e for e in everything if None not in (e.cost, e.earliest_cost, e.random_cost)]
    return Month(
        month=month,
        currency=currency,
        runs=len(everything),
        predicted_runs=sum(not e.is_measured for e in everything),
        unsettled_runs=len(everything) - len(known),
        energy_wh=sum(e.energy_wh for e in everything if e.is_measured),
        predicted_wh=sum(e.predicted_wh for e in everything),
        cost=sum((e.cost or Decimal(0) for e in known), Decimal(0)),
        earliest_cost=sum((e.earliest_cost or Decimal(0) for e in known), Decimal(0)),
        random_cost=sum((e.random_cost or Decimal(0) for e in known), Decimal(0)),
    )
