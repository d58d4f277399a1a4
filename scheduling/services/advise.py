"""When a job that is not registered would run best: the plan's own prices, predictor and optimizer, and no trace."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from accounts.models import User
from asyncenergy import clock
from scheduling.errors import FieldRefused
from scheduling.jobs import whole_second
from scheduling.optimizer import Job, plan
from scheduling.predictor import Known, Unpredictable, predict
from scheduling.selectors.predictions import known_of_fingerprint
from scheduling.selectors.prices import HORIZON, formula_of, market_of, price_curve, scheduling_account_of
from scheduling.windows import Words, windows

TIME_LIMIT_S = 2.0
JOB = "advised"


@dataclass(frozen=True, slots=True)
class Advice:
    """Where the job would run, and what that and starting now would cost; money in `currency`."""

    feasible: bool
    reason: str
    prediction_method: str
    predicted_wh: float
    degraded: bool
    currency: str
    start: datetime | None = None
    end: datetime | None = None
    grid_cost: float | None = None
    now_cost: float | None = None
    smallest_change: str | None = None

    @property
    def savings(self) -> float | None:
        return None if self.now_cost is None or self.grid_cost is None else self.now_cost - self.grid_cost


def advise(
    *,
    account: User,
    est_duration_s: float,
    deadline: str,
    earliest_start: str = "",
    nameplate_watts: float | None = None,
    fingerprint: str | None = None,
    now: datetime | None = None,
) -> Advice:
    """Return the cheapest start. Raises FieldRefused for a time that can't be read, or where the power is unknown."""
    now = now or clock.now()
    words = Words(deadline, earliest_start, "none", now, ZoneInfo(account.timezone))
    window = windows(words, now=now)[0]
    prediction = predict(Known(known_of_fingerprint(account, fingerprint), est_duration_s, nameplate_watts))
    if isinstance(prediction, Unpredictable):
        raise FieldRefused(prediction.missing[0], "prediction_impossible", f"{prediction.sentence.capitalize()}.")
    choices = scheduling_account_of(account)
    curve = price_curve(market_of(choices), formula_of(account), now, now + HORIZON)
    begin = whole_second(max(window.earliest_start, now))
    job = Job(JOB, prediction.reserve_s, prediction.profile, begin, window.deadline)
    made = plan(curve.optimizer_points(), [job], now=now, time_limit_s=TIME_LIMIT_S)
    common: dict[str, Any] = {
        "prediction_method": prediction.method,
        "predicted_wh": prediction.energy_wh,
        "degraded": curve.known_share(begin, min(window.deadline, now + HORIZON)) < 1.0,
        "currency": curve.market.currency,
    }
    if made.infeasible:
        out = made.infeasible[0]
        return Advice(feasible=False, reason=out.reason, smallest_change=out.smallest_change, **common)
    placed = made.placements[0]
    return Advice(
        feasible=True,
        reason="",
        start=placed.start,
        end=placed.end,
        grid_cost=placed.cost,
        now_cost=made.baseline_cost,
        **common,
    )
