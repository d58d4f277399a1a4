"""What has to be done, and what became of it. Every change of an occurrence's state is here."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import F, Q

from accounts.models import User
from asyncenergy import clock
from scheduling.models import Ack, Controller, Occurrence, Placement, RunRecord, Workflow
from scheduling.models.workflow import UNFINISHED
from scheduling.services.claims import account_lock, account_mark_due
from scheduling.services.versions import version_amend, without
from scheduling.windows import Window, Words, windows

RETRIES = 3
BACK_OFF = timedelta(minutes=2)
REPORT_GRACE = timedelta(minutes=2)
EDITED, SKIPPED, DISABLED, DELETED = "edited", "skipped", "disabled", "deleted"
REOPENABLE = (EDITED, DISABLED)
Status = Occurrence.Status
CLOSED = ["status", "reason", "ended_at", "attempt", "at_once", "planned_start", "planned_end", "silent_since"]


def words_of(workflow: Workflow) -> Words:
    return Words(
        deadline=workflow.deadline,
        earliest_start=workflow.earliest_start,
        recurrence=workflow.recurrence,  # type: ignore[arg-type]  # one of its choices
        said_at=workflow.said_at,
        zone=ZoneInfo(workflow.account.timezone),
    )


@transaction.atomic
def occurrences_sync(*, workflow: Workflow, now: datetime, edited: bool = False) -> None:
    """Write down the next times that a workflow is wanted.

    After an edit, what has not begun gets its new window, and what is not wanted any more is cancelled.
    """
    wanted = {window.key: window for window in _wanted(workflow, now, edited)}
    known = {one.key: one for one in Occurrence.objects.filter(workflow=workflow, key__in=wanted)}
    Occurrence.objects.bulk_create(_new(workflow, window, now) for key, window in wanted.items() if key not in known)
    if edited:
        for key, one in known.items():
            _rewindow(one, wanted[key])
        _cancel(_unbegun(workflow).filter(at_once=False).exclude(key__in=wanted), EDITED, now)


def _wanted(workflow: Workflow, now: datetime, edited: bool) -> list[Window]:
    """What is done once is written down when it is said, and never counted anew."""
    said_once = workflow.recurrence == Workflow.Recurrence.NONE and not edited
    if said_once or not workflow.enabled or workflow.deleted_at is not None:
        return []
    return windows(words_of(workflow), now=now)


def _new(workflow: Workflow, window: Window, now: datetime) -> Occurrence:
    return Occurrence(
        account_id=workflow.account_id,
        workflow=workflow,
        key=window.key,
        earliest_start=window.earliest_start,
        deadline=window.deadline,
        created_at=now,
    )


def _unbegun(workflow: Workflow) -> Any:
    return Occurrence.objects.filter(workflow=workflow, status=Status.OPEN, started_at=None)


def _rewindow(one: Occurrence, window: Window) -> None:
    reopened = one.status == Status.CANCELLED and one.reason in REOPENABLE
    if not reopened and not (one.status == Status.OPEN and one.started_at is None):
        return
    one.earliest_start, one.deadline = window.earliest_start, window.deadline
    one.status, one.reason, one.ended_at, one.baseline = Status.OPEN, "", None, None
    one.attempt += reopened
    one.save(update_fields=["earliest_start", "deadline", "status", "reason", "ended_at", "baseline", "attempt"])


def _cancel(rows: Any, reason: str, now: datetime) -> int:
    count: int = rows.update(status=Status.CANCELLED, reason=reason, ended_at=now, planned_start=None, planned_end=None)
    return count


@transaction.atomic
def occurrences_reopen(*, workflow: Workflow, now: datetime) -> None:
    """Take up again what was cancelled because the workflow was switched off, and what is wanted next.

    What was said meanwhile counts: what recurs gets its windows as they are read now, and what is done once its old
    window only where no other was said since.
    """
    cancelled = Occurrence.objects.filter(workflow=workflow, status=Status.CANCELLED, reason=DISABLED, deadline__gt=now)
    once = workflow.recurrence == Workflow.Recurrence.NONE
    as_it_was = cancelled.filter(ended_at__gt=workflow.said_at) if once else cancelled.filter(at_once=True)
    reopened = as_it_was.update(status=Status.OPEN, reason="", ended_at=None, attempt=F("attempt") + 1)
    occurrences_sync(workflow=workflow, now=now, edited=not (once and reopened))


@transaction.atomic
def occurrences_cancel(*, workflow: Workflow, reason: str, now: datetime) -> None:
    """Cancel all that has not begun, and publish a version without it."""
    account_lock(account=workflow.account)
    rows = _unbegun(workflow)
    ended = list(rows.values_list("pk", flat=True))
    _cancel(rows, reason, now)
    version_amend(account=workflow.account, cause=reason, amended=without(ended, now), now=now)


def _locked(occurrence_id: UUID) -> Occurrence:
    """The occurrence as it is now, with everything of its account locked."""
    account = User.objects.get(occurrences=occurrence_id)
    account_lock(account=account)
    one = Occurrence.objects.select_related("workflow").get(pk=occurrence_id)
    one.account = account
    return one


@transaction.atomic
def occurrence_start(*, placement: Placement, at: datetime | None, now: datetime) -> None:
    """Note that a placement has begun; from now on it stays where it is.

    Where the controller began by an older version, the newest is published again with that start: what else it reads
    there would look to it like one more run.
    """
    one = _locked(placement.occurrence_id)
    if one.status not in UNFINISHED or one.attempt != placement.attempt:
        return
    if one.started_at is None or one.status != Status.RUNNING:
        one.status, one.started_at = Status.RUNNING, at or now
        one.planned_start, one.planned_end = placement.start, placement.end
        one.save(update_fields=["status", "started_at", "planned_start", "planned_end"])

    def as_begun(other: Placement) -> Placement | None:
        moved = other.occurrence_id == one.pk and other.start != placement.start
        return placement if moved else other

    if version_amend(account=one.account, cause="started", amended=as_begun, now=now):
        account_mark_due(account=one.account, cause="started", now=now)


@transaction.atomic
def occurrence_finish(*, occurrence_id: UUID, now: datetime) -> None:
    """Note that the work is done, whoever says so first; what has ended is in no version from now on."""
    one = _locked(occurrence_id)
    if one.status == Status.DONE:
        return
    one.status, one.reason, one.ended_at = Status.DONE, "", now
    one.save(update_fields=["status", "reason", "ended_at"])
    version_amend(account=one.account, cause="finished", amended=without([one.pk], now), now=now)
    if _waits_at_once(one.account, now):
        account_mark_due(account=one.account, cause="finished", now=now)


def _waits_at_once(account: User, now: datetime) -> bool:
    """Whether work waits for a machine that is free now, earlier than its plan had it."""
    waiting = Occurrence.objects.filter(account=account, status=Status.OPEN, at_once=True)
    return waiting.exclude(planned_start__lte=now).exists()


@transaction.atomic
def occurrence_fail(*, placement: Placement, now: datetime) -> bool:
    """Note that an attempt failed; return whether another will be planned. A second report of it changes nothing.

    The next attempt has the whole length again, also after pieces that were done: a controller begins each anew.
    """
    one = _locked(placement.occurrence_id)
    if one.status not in UNFINISHED or one.attempt != placement.attempt:
        return False
    left = _retry_from(one, placement, now)
    one.attempt, one.failures = one.attempt + 1, one.failures + 1
    one.started_at = one.planned_start = one.planned_end = None
    one.status, one.not_before = (Status.OPEN, left) if left else (Status.FAILED, None)
    one.reason = "" if left else "failed, and could not be repeated before its deadline"
    one.ended_at = None if left else now
    one.at_once = False
    one.save()
    version_amend(account=one.account, cause="failed", amended=without([one.pk], now), now=now)
    if left or _waits_at_once(one.account, now):
        account_mark_due(account=one.account, cause="failed", now=now)
    return left is not None


def _retry_from(one: Occurrence, placement: Placement, now: datetime) -> datetime | None:
    """When the next attempt may begin: after a pause that grows, and sooner where the deadline asks for it."""
    latest = one.deadline - timedelta(seconds=placement.reserved_s or 1.0)
    if one.failures >= RETRIES or latest < now:
        return None
    pause: timedelta = BACK_OFF * 4**one.failures
    return max(now, min(now + pause, latest))


def occurrences_close(*, account: User, now: datetime | None = None) -> int:
    """End what is over: missed deadlines, and slots that ended without a report. Return how many changed."""
    now = now or clock.now()
    with transaction.atomic():
        account_lock(account=account)
        rows = Occurrence.objects.filter(account=account).select_related("workflow")
        missed = list(rows.filter(status__in=UNFINISHED, deadline__lte=now))
        silent = list(rows.filter(status__in=(Status.OPEN, Status.RUNNING), planned_end__lte=now, deadline__gt=now))
        idle = _idle(account, rows.filter(status=Status.UNREPORTED, deadline__gt=now, started_at=None), now)
        _end(account, missed, now)
        for one in silent:
            one.status, one.reason = Status.UNREPORTED, "its time passed without a report"
        for one in (*missed, *silent):
            _note_silence(one, now)
        for one in idle:
            one.status, one.reason, one.attempt, one.at_once = Status.OPEN, "", one.attempt + 1, False
            one.planned_start = one.planned_end = None
        changed = [*missed, *silent, *idle]
        Occurrence.objects.bulk_update(changed, CLOSED)
        if changed:
            version_amend(account=account, cause="over", amended=without([one.pk for one in missed], now), now=now)
        if idle:
            account_mark_due(account=account, cause="not run", now=now)
    return len(changed)


def _end(account: User, missed: Iterable[Occurrence], now: datetime) -> None:
    """What was begun and not done has failed; what nobody began is missed, however often it had a place."""
    begun = _begun(account, [one.pk for one in missed])
    for one in missed:
        is_failed = one.started_at is not None or one.failures > 0 or one.pk in begun
        one.status = Status.FAILED if is_failed else Status.MISSED
        one.reason, one.ended_at = "its deadline passed without a report of success", now


def _begun(account: User, occurrences: Collection[UUID]) -> set[UUID]:
    """Those of which any attempt was reported, an earlier one than is planned now as well."""
    if not occurrences:
        return set()
    runs = RunRecord.objects.filter(occurrence__in=occurrences).values_list("occurrence_id", flat=True)
    began = (Ack.Event.STARTED, Ack.Event.FAILED)
    acks = Ack.objects.filter(account=account, event__in=began, about__in=[str(one) for one in occurrences])
    return {*runs, *(UUID(about) for about in acks.values_list("about", flat=True))}


def _note_silence(one: Occurrence, now: datetime) -> None:
    """Keep when the first place of work that nobody began was over: it may get another, and its owner has to know."""
    if one.started_at is None and one.planned_end is not None and one.planned_end <= now:
        one.silent_since = one.silent_since or one.planned_end


def _idle(account: User, rows: Iterable[Occurrence], now: datetime) -> list[Occurrence]:
    """What a controller of ours did not run: it has been in touch since, and resends whatever it has to report."""
    contacts = dict(Controller.objects.filter(account=account).values_list("controller_id", "last_contact_at"))
    return [
        one
        for one in rows
        if one.planned_end
        and (contact := contacts.get(one.workflow.controller_id or ""))
        and contact > one.planned_end + REPORT_GRACE
    ]


def accounts_with_work_over(now: datetime) -> list[int]:
    """Accounts with a slot or a deadline that has passed."""
    over = Q(status__in=(Status.OPEN, Status.RUNNING), planned_end__lte=now) | Q(
        status__in=UNFINISHED, deadline__lte=now
    )
    unreported = Q(
        status=Status.UNREPORTED,
        started_at=None,
        workflow__controller_id=F("account__controllers__controller_id"),
        account__controllers__last_contact_at__gt=F("planned_end") + REPORT_GRACE,
    )
    rows = Occurrence.objects.filter(over | unreported).order_by().values_list("account_id", flat=True)
    return sorted(set(rows))
