"""What controllers say of their placements. Hints: a record of the run says the same and counts as much."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from accounts.models import User
from asyncenergy import clock
from scheduling.errors import NotFound
from scheduling.models import Ack, Occurrence, Placement, Workflow
from scheduling.models.workflow import UNFINISHED
from scheduling.services.claims import account_lock
from scheduling.services.occurrences import occurrence_fail, occurrence_finish, occurrence_start
from scheduling.services.planning import account_replan_now

REPLAN_WITHIN_S = 2.5


@dataclass(frozen=True, slots=True)
class Said:
    """One ack as it came."""

    schedule_version: int
    event: str
    workflow_id: str
    at: datetime | None = None
    occurrence_id: str | None = None
    controller_id: str | None = None


def schedule_ack(*, account: User, said: Said, now: datetime | None = None) -> Ack:
    """Store what was said, once, and do what follows from it. A failure is planned again at once where time allows."""
    now = now or clock.now()
    workflow = workflow_of(account, said.workflow_id)
    if workflow is None:
        raise NotFound("workflow")
    placement = _placement_meant(workflow, said, now)
    ack, is_new, again = _stored(account, workflow, said, placement, now)
    if is_new and again:
        ack.replanned = account_replan_now(account=account, within_s=REPLAN_WITHIN_S)
        ack.save(update_fields=["replanned"])
    return ack


@transaction.atomic
def _stored(
    account: User, workflow: Workflow, said: Said, placement: Placement | None, now: datetime
) -> tuple[Ack, bool, bool]:
    account_lock(account=account)
    ack, is_new = Ack.objects.get_or_create(
        account=account,
        schedule_version=said.schedule_version,
        event=said.event,
        workflow=workflow,
        about=str(placement.occurrence_id) if placement else "",
        defaults={"controller_id": said.controller_id, "at": said.at, "received_at": now},
    )
    again = is_new and placement is not None and _effect(said, placement, now)
    return ack, is_new, again


def _effect(said: Said, placement: Placement, now: datetime) -> bool:
    """Whether the work has to be planned again."""
    if said.event == Ack.Event.FAILED:
        return occurrence_fail(placement=placement, now=now)
    if said.event == Ack.Event.FINISHED:
        occurrence_finish(occurrence_id=placement.occurrence_id, now=now)
    else:
        occurrence_start(placement=placement, at=said.at, now=now)
    return False


def _placement_meant(workflow: Workflow, said: Said, now: datetime) -> Placement | None:
    """The placement that an ack speaks of: of its version, by its occurrence, else the last one that has begun."""
    placements = Placement.objects.filter(workflow=workflow, feasible=True).select_related("occurrence")
    own = placements.filter(version__number=said.schedule_version, version__account_id=workflow.account_id)
    named = uuid_of(said.occurrence_id) if said.occurrence_id else None
    if named is not None:
        newest = placements.filter(occurrence=named).order_by("-version__number")
        return own.filter(occurrence=named).first() or newest.first()
    begun = own.filter(start__lte=max(said.at or now, now)).order_by("-start")
    unfinished = begun.filter(occurrence__status__in=UNFINISHED)
    return unfinished.first() or begun.first() or _only_one(own)


def _only_one(placements: QuerySet[Placement]) -> Placement | None:
    """A clock that runs ahead of ours may start early; with one placement there is no doubt which."""
    found = list(placements[:2])
    return found[0] if len(found) == 1 else None


def uuid_of(text: str | None) -> UUID | None:
    """Return an id; None for text that is none."""
    try:
        return UUID(text or "")
    except ValueError:
        return None


def workflow_of(account: User, text: str | None) -> Workflow | None:
    """Return the account's workflow with this id, deleted or not."""
    key = uuid_of(text)
    return Workflow.objects.filter(account=account, pk=key).first() if key else None


def occurrence_of(account: User, text: str | None) -> Occurrence | None:
    """Return the account's occurrence with this id."""
    key = uuid_of(text)
    return Occurrence.objects.filter(account=account, pk=key).first() if key else None
