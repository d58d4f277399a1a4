"""What an account's next hours look like: what it pays, and what is placed there."""

from dataclasses import dataclass
from datetime import datetime

from accounts.models import User
from scheduling.models import Placement, ScheduleVersion
from scheduling.selectors.planning import AHEAD
from scheduling.selectors.prices import PriceCurve, formula_of, market_of, price_curve, scheduling_account_of
from scheduling.selectors.schedule import placements_of, schedule_since


@dataclass(frozen=True, slots=True)
class Tonight:
    """Prices as the account pays them from `begin` to `end`, and the newest plan.

    `version` is None before the first plan. `placements`: what runs or is still ahead, those without room among them
    (`feasible` is false); all that have a time lie between `begin` and `end`.
    """

    begin: datetime
    end: datetime
    curve: PriceCurve
    version: ScheduleVersion | None
    placements: tuple[Placement, ...]


def account_curve(account: User, start: datetime, end: datetime) -> PriceCurve:
    """Return what the account pays from `start` to `end` by the formula that it has now."""
    return price_curve(market_of(scheduling_account_of(account)), formula_of(account), start, end)


def tonight(account: User, now: datetime) -> Tonight:
    """Look as far as plans are made, and back to the start of what runs."""
    version = schedule_since(account, -1)
    found = placements_of(version, now=now).select_related("workflow", "occurrence") if version else []
    placements = tuple(found)
    begin = min([now.replace(minute=0, second=0, microsecond=0), *(p.start for p in placements if p.start)])
    end = max([now + AHEAD, *(p.end for p in placements if p.end)])
    return Tonight(begin, end, account_curve(account, begin, end), version, placements)
