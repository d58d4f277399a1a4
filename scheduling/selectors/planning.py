"""Everything that a plan of one account needs, read once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from accounts.models import User
from scheduling.jobs import SHARED_MACHINE, Placed, Work
from scheduling.models import Controller, Occurrence, Placement, ScheduleVersion, SchedulingAccount, Workflow
from scheduling.models.workflow import TO_PLAN
from scheduling.predictor import Prediction, Unpredictable, predict
from scheduling.prices.coverage import local_midnight
from scheduling.selectors.predictions import caps_of, known_of
from scheduling.selectors.prices import (
    HORIZON,
    PriceCurve,
    formula_of,
    market_of,
    price_curve,
    scheduling_account_of,
)
from scheduling.solver.codec import pieces_from

AHEAD = timedelta(hours=36)
"""What may begin within this time from now is planned."""
BEYOND = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class PlanInput:
    """What is to be planned at `now`. `refused`: occurrences whose duration or power nobody knows."""

    account: User
    now: datetime
    curve: PriceCurve
    works: tuple[Work, ...]
    predictions: Mapping[UUID, Prediction]
    refused: tuple[tuple[Occurrence, str], ...]
    occurrences: Mapping[str, Occurrence]
    newest: ScheduleVersion | None
    placements: Mapping[UUID, Placement]
    capacity: Mapping[str, int]
    watt_limit: float | None

    @property
    def until(self) -> datetime:
        """The last deadline, as far as prices can be had."""
        last = max((one.deadline for one in self.occurrences.values()), default=self.now)
        return min(max(last, self.now), horizon_of(self.account, self.now))


def plan_input(account: User, now: datetime) -> PlanInput:
    choices = scheduling_account_of(account)
    newest = newest_version(account)
    placements = {p.occurrence_id: p for p in newest.placements.all()} if newest else {}
    occurrences = list(_to_plan(choices, account, now).values())
    predictions = _predictions({one.workflow_id: one.workflow for one in occurrences})
    works, refused = [], []
    for one in occurrences:
        prediction = predictions[one.workflow_id]
        if isinstance(prediction, Unpredictable):
            refused.append((one, prediction.sentence))
        else:
            works.append(_work(one, prediction, placements.get(one.pk)))
    begin = min([now, *(piece.start for work in works if work.placed for piece in work.placed.pieces)])
    return PlanInput(
        account=account,
        now=now,
        curve=price_curve(market_of(choices), formula_of(account), begin, _looked_at_until(account, occurrences, now)),
        works=tuple(works),
        predictions={key: one for key, one in predictions.items() if isinstance(one, Prediction)},
        refused=tuple(refused),
        occurrences={str(one.pk): one for one in occurrences},
        newest=newest,
        placements=placements,
        capacity=capacities(account),
        watt_limit=choices.watt_limit,
    )


def _looked_at_until(account: User, occurrences: Sequence[Occurrence], now: datetime) -> datetime:
    """A day beyond the last deadline: what doesn't fit is told how much later its deadline would have to be."""
    last = max((one.deadline for one in occurrences), default=now)
    return min(last + BEYOND, horizon_of(account, now))


def horizon_of(account: User, now: datetime) -> datetime:
    """The end of what is looked at: a local midnight, so that all plans of one day look equally far."""
    zone = ZoneInfo(account.timezone)
    return local_midnight(zone, (now + HORIZON).astimezone(zone).date())


def newest_version(account: User) -> ScheduleVersion | None:
    versions = ScheduleVersion.objects.filter(account=account).select_related("market")
    return versions.defer("snapshot_zlib", "certificate_zlib").prefetch_related("placements").first()


def _to_plan(choices: SchedulingAccount, account: User, now: datetime) -> Mapping[UUID, Occurrence]:
    """What has not ended and may begin soon; while the account is paused, only what runs."""
    rows = Occurrence.objects.filter(account=account, status__in=TO_PLAN, deadline__gt=now)
    if choices.paused_at is not None:
        rows = rows.filter(status=Occurrence.Status.RUNNING)
    near = rows.filter(earliest_start__lt=now + AHEAD).select_related("workflow")
    return {one.pk: one for one in near.order_by("deadline", "pk")}


def _predictions(workflows: Mapping[UUID, Workflow]) -> dict[UUID, Prediction | Unpredictable]:
    return {key: predict(known_of(workflow)) for key, workflow in workflows.items()}


def _work(one: Occurrence, prediction: Prediction, placement: Placement | None) -> Work:
    workflow = one.workflow
    current = placement if placement and placement.feasible and placement.attempt == one.attempt else None
    return Work(
        id=str(one.pk),
        earliest_start=max(one.earliest_start, one.not_before or one.earliest_start),
        deadline=one.deadline,
        machine=workflow.controller_id or SHARED_MACHINE,
        prediction=prediction,
        priority=workflow.priority,
        interruptible=workflow.interruptible,
        min_run_s=workflow.min_run_s,
        restart_wh=workflow.restart_wh,
        caps=() if workflow.interruptible else caps_of(workflow),
        placed=placed_from(current) if current else None,
        is_started=one.status == Occurrence.Status.RUNNING,
        at_once=one.at_once,
    )


def placed_from(placement: Placement) -> Placed:
    return Placed(
        pieces=pieces_from(placement.pieces),
        profile=tuple((seconds, watts) for seconds, watts in placement.profile),
        reserved_s=placement.reserved_s or 0.0,
        predicted_wh=placement.predicted_wh or 0.0,
        cost=float(placement.cost or 0),
        cap_w=placement.cap_w,
    )


def capacities(account: User) -> dict[str, int]:
    """How many jobs each machine runs at once."""
    known: Sequence[tuple[str, int]] = list(
        Controller.objects.filter(account=account).values_list("controller_id", "capacity")
    )
    return {SHARED_MACHINE: 1, **dict(known)}
