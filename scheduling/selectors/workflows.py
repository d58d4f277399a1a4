"""Reads of workflows and of the times that they are wanted."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from accounts.models import User
from scheduling.models import Controller, Occurrence, RunRecord, Workflow


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
