"""Reads of workflows and of the times that they are wanted."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery

from accounts.models import User
from scheduling.models import Controller, Occurrence, Placement, RunRecord, ScheduleVersion, Workflow
from scheduling.models.workflow import UNFINISHED

QUIET_AFTER = timedelta(minutes=30)
"""Controllers ask every minute or so; one that is silent for so long is worth a word."""


@dataclass(frozen=True, slots=True)
class NextWindow:
    """The next time that a workflow is wanted and has not begun."""

    earliest_start: datetime
    deadline: datetime


def workflows_of(account: User) -> QuerySet[Workflow]:
    """Return the account's workflows, newest first."""
    return Workflow.objects.filter(account=account, deleted_at=None)


def next_windows(workflows: Iterable[Workflow], now: datetime) -> dict[UUID, NextWindow]:
    """Return the next window of each workflow that has one."""
    rows = Occurrence.objects.filter(workflow__in=list(workflows), status=Occurrence.Status.OPEN, deadline__gt=now)
    found: dict[UUID, NextWindow] = {}
    for one in rows.order_by("-deadline"):
        found[one.workflow_id] = NextWindow(one.earliest_start, one.deadline)
    return found


def controllers_of(account: User) -> QuerySet[Controller]:
    return Controller.objects.filter(account=account)


def runs_of(account: User) -> QuerySet[RunRecord]:
    """Return the account's runs, newest first, with what was predicted and what they saved."""
    runs = RunRecord.objects.filter(account=account)
    return runs.select_related("workflow", "profile", "savings", "savings__placement")


def runs_with_plans(account: User) -> QuerySet[RunRecord]:
    """Return the same, each with `planned_wh`: what the newest plan with its start predicted, also where it failed."""
    planned = Placement.objects.filter(occurrence=OuterRef("occurrence"), start=OuterRef("scheduled_start"))
    newest = planned.order_by("-version__number").values("predicted_wh")[:1]
    return runs_of(account).annotate(planned_wh=Subquery(newest))


@dataclass(frozen=True, slots=True)
class WorkflowState:
    """A workflow, its next time that is not over, and the last run of it."""

    workflow: Workflow
    upcoming: Occurrence | None
    last_run: RunRecord | None


def workflow_states(workflows: Iterable[Workflow], now: datetime) -> list[WorkflowState]:
    """Return each workflow with what is next and what was last, in three queries."""
    listed = list(workflows)
    upcoming: dict[UUID, Occurrence] = {}
    for one in occurrences_ahead(listed, now).order_by("-deadline", "-pk"):
        upcoming[one.workflow_id] = one
    newest = RunRecord.objects.filter(workflow=OuterRef("pk")).order_by("-ts", "pk").values("pk")[:1]
    last = Workflow.objects.filter(pk__in=[w.pk for w in listed]).values_list("pk", Subquery(newest))
    run_of = dict(last)
    runs = RunRecord.objects.in_bulk([pk for pk in run_of.values() if pk])
    return [WorkflowState(w, upcoming.get(w.pk), runs.get(run_of.get(w.pk))) for w in listed]


def occurrences_ahead(workflows: Iterable[Workflow], now: datetime) -> QuerySet[Occurrence]:
    """Return what is to be done or runs, in order of its deadline."""
    return Occurrence.objects.filter(workflow__in=list(workflows), status__in=UNFINISHED, deadline__gt=now)


@dataclass(frozen=True, slots=True)
class ControllerState:
    """A controller, how long it has been silent, and the first start that waits for it in the newest plan."""

    controller: Controller
    silent: timedelta
    newest_version: int | None
    next_latest_start: datetime | None
    next_name: str

    @property
    def is_quiet(self) -> bool:
        return self.silent >= QUIET_AFTER

    @property
    def is_behind(self) -> bool:
        """Whether there is a newer plan than the one that it was last given."""
        given = self.controller.last_version
        return self.newest_version is not None and given is not None and given < self.newest_version


def controller_states(account: User, now: datetime) -> list[ControllerState]:
    newest = ScheduleVersion.objects.filter(account=account).only("pk", "number").first()
    placed = Placement.objects.filter(version=newest, feasible=True, start__gt=now).select_related("workflow")
    waiting: dict[str, Placement] = {}
    for placement in placed.order_by("-latest_start"):
        waiting[placement.machine] = placement
    return [_controller_state(box, waiting.get(box.controller_id), newest, now) for box in controllers_of(account)]


def _controller_state(
    box: Controller, waiting: Placement | None, newest: ScheduleVersion | None, now: datetime
) -> ControllerState:
    return ControllerState(
        controller=box,
        silent=now - box.last_contact_at,
        newest_version=newest.number if newest else None,
        next_latest_start=waiting.latest_start if waiting else None,
        next_name=waiting.workflow.name if waiting else "",
    )


def workflows_of_unknown_controllers(account: User) -> QuerySet[Workflow]:
    """Return enabled workflows that name a controller which has never asked for its schedule."""
    known = controllers_of(account).values("controller_id")
    return workflows_of(account).filter(enabled=True, controller_id__isnull=False).exclude(controller_id__in=known)
