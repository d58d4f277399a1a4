"""What an account may want to be told: failed runs, work that nobody took up, controllers that have gone quiet."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from django.db.models import Exists, F, Model, OuterRef, QuerySet, Subquery

from scheduling.models import Controller, Notice, Occurrence, RunRecord

LOOKS_BACK = timedelta(days=2)
UNREPORTED_AFTER = timedelta(hours=2)
QUIET_AFTER = timedelta(hours=1)
Status = Occurrence.Status
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened; `key` names it within its account, however often it is seen."""

    account_id: int
    kind: Notice.Kind
    key: str
    subject: str
    text: str
    happened_at: datetime
    facts: dict[str, Any] = field(default_factory=dict)


def events(now: datetime) -> Iterator[Event]:
    """Yield what happened since each account asked to be told."""
    yield from _failed_runs(now)
    yield from _failed_work(now)
    yield from _unmatched(now)
    yield from _quiet(now)


def _wanted(rows: QuerySet[Row], kind: Notice.Kind) -> QuerySet[Row]:
    return rows.filter(
        account__is_active=True,
        account__scheduling__notices_since__isnull=False,
        **{f"account__scheduling__notices__{kind}": True},
    )


def _failed_runs(now: datetime) -> Iterator[Event]:
    rows = RunRecord.objects.filter(exit_status=RunRecord.Exit.ERROR, received_at__gte=now - LOOKS_BACK)
    since = rows.filter(received_at__gte=F("account__scheduling__notices_since"))
    for run in _wanted(since, Notice.Kind.FAILED_RUN).select_related("workflow"):
        name = run.workflow.name if run.workflow else run.run_id
        yield Event(
            run.account_id,
            Notice.Kind.FAILED_RUN,
            f"failed:{run.pk}",
            f"{name} failed on {run.controller_id}",
            f"The run {run.run_id} of {name} on {run.controller_id} ended with an error. It is tried again while its "
            "deadline can be met. What it printed is in the controller's log.",
            run.ts,
            {"run": str(run.pk), "workflow": _id(run.workflow_id), "controller_id": run.controller_id},
        )


def _failed_work(now: datetime) -> Iterator[Event]:
    """What was begun and not done by its deadline."""
    rows = Occurrence.objects.filter(
        status=Status.FAILED, ended_at__gte=now - LOOKS_BACK, deadline__gte=now - 2 * LOOKS_BACK
    )
    since = rows.filter(ended_at__gte=F("account__scheduling__notices_since"))
    for one in _wanted(since, Notice.Kind.FAILED_RUN).select_related("workflow"):
        yield Event(
            one.account_id,
            Notice.Kind.FAILED_RUN,
            f"undone:{one.pk}",
            f"{one.workflow.name} was not done by its deadline",
            f"{one.workflow.name} was begun and not done: {one.reason}.",
            one.ended_at or now,
            {"occurrence": str(one.pk), "workflow": str(one.workflow_id), "deadline": one.deadline.isoformat()},
        )


def _unmatched(now: datetime) -> Iterator[Event]:
    """Work whose place in a plan passed without a word, told once until the workflow is done again.

    It may have got another place meanwhile. A box that is away has a notice of its own: here it has been in touch
    since, or has never been.
    """
    box = Controller.objects.filter(account=OuterRef("account"), controller_id=OuterRef("workflow__controller_id"))
    silent = Occurrence.objects.filter(
        ~Exists(RunRecord.objects.filter(occurrence=OuterRef("pk"))),
        ~Exists(box.filter(last_contact_at__lte=OuterRef("silent_since"))),
        status__in=(Status.OPEN, Status.UNREPORTED, Status.MISSED),
        started_at=None,
        failures=0,
        workflow__deleted_at=None,
        silent_since__gte=F("account__scheduling__notices_since"),
        silent_since__range=(now - LOOKS_BACK, now - UNREPORTED_AFTER),
    )
    done = Occurrence.objects.filter(workflow=OuterRef("workflow"), status=Status.DONE).order_by("-ended_at", "-pk")
    rows = _wanted(silent, Notice.Kind.UNMATCHED).select_related("workflow")
    for one in rows.annotate(last_done=Subquery(done.values("pk")[:1])).order_by("silent_since"):
        name, named = one.workflow.name, one.workflow.controller_id
        yield Event(
            one.account_id,
            Notice.Kind.UNMATCHED,
            f"unmatched:{one.workflow_id}:{_id(one.last_done) or '-'}",
            f"Nobody ran {name}",
            f"{name} had its place in the plan, and no controller said that it ran. "
            f"Look whether {f'{named} has' if named else 'one of your controllers has'} it in its jobs.json.",
            one.silent_since or now,
            {"workflow": str(one.workflow_id), "occurrence": str(one.pk), "controller_id": named},
        )


def _quiet(now: datetime) -> Iterator[Event]:
    rows = Controller.objects.filter(last_contact_at__range=(now - LOOKS_BACK, now - QUIET_AFTER))
    since = rows.filter(last_contact_at__gte=F("account__scheduling__notices_since") - QUIET_AFTER)
    for box in _wanted(since, Notice.Kind.QUIET).select_related("account"):
        last = box.last_contact_at.isoformat(timespec="seconds")
        wall = box.last_contact_at.astimezone(ZoneInfo(box.account.timezone))
        yield Event(
            box.account_id,
            Notice.Kind.QUIET,
            f"quiet:{box.pk}:{last}",
            f"{box.controller_id} has gone quiet",
            f"The controller {box.controller_id} last asked for its schedule on {wall:%a %d %b at %H:%M} "
            f"({box.account.timezone}). It goes on by the plan that it has, and then starts each job at its latest "
            "feasible time; what waits for a newer plan waits.",
            box.last_contact_at,
            {"controller_id": box.controller_id, "last_contact_at": last},
        )


def _id(value: Any) -> str | None:
    return None if value is None else str(value)
