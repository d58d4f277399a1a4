"""What an account's next hours look like: what it pays, and what is placed there."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from accounts.models import User
from scheduling.models import Placement, PlanClaim, ScheduleVersion
from scheduling.selectors.planning import AHEAD
from scheduling.selectors.prices import PriceCurve, formula_of, market_of, price_curve, scheduling_account_of
from scheduling.selectors.schedule import placements_of, schedule_since


@dataclass(frozen=True, slots=True)
class Tonight:
    """Prices as the account pays them from `begin` to `end`, and the newest plan.

    `version` is None before the first plan. `placements`: what runs or is still ahead, those without room among them
    (`feasible` is false); all that have a time lie between `begin` and `end`. `planned` is the version that the plan
    was first published as: its cost and its bound belong together. `is_due`: a new plan is being made.
    """

    begin: datetime
    end: datetime
    curve: PriceCurve
    version: ScheduleVersion | None
    placements: tuple[Placement, ...]
    planned: ScheduleVersion | None
    is_due: bool
    is_paused: bool

    @property
    def gap(self) -> Decimal | None:
        """What the plan may cost above the cheapest conceivable one, in currency."""
        return None if self.planned is None else self.planned.cost - self.planned.lower_bound


def tonight(account: User, now: datetime) -> Tonight:
    """Look as far as plans are made, and back to the start of what runs."""
    choices = scheduling_account_of(account)
    version = schedule_since(account, -1)
    found = placements_of(version, now=now).select_related("workflow", "occurrence") if version else []
    placements = tuple(found)
    begin = min([now.replace(minute=0, second=0, microsecond=0), *(p.start for p in placements if p.start)])
    end = max([now + AHEAD, *(p.end for p in placements if p.end)])
    return Tonight(
        begin=begin,
        end=end,
        curve=price_curve(market_of(choices), formula_of(account), begin, end),
        version=version,
        placements=placements,
        planned=(version.based_on or version) if version else None,
        is_due=PlanClaim.objects.filter(account=account, due_at__lte=now).exists(),
        is_paused=choices.paused_at is not None,
    )
