"""Workflows: made, changed, switched off, run now, skipped."""

import json
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts.models import User
from asyncenergy import clock
from scheduling.errors import Conflict, FieldRefused, NotFound
from scheduling.models import Occurrence, Workflow
from scheduling.services.claims import account_lock, account_mark_due
from scheduling.services.occurrences import (
    DELETED,
    DISABLED,
    SKIPPED,
    occurrences_cancel,
    occurrences_reopen,
    occurrences_sync,
    words_of,
)
from scheduling.services.versions import version_amend, without
from scheduling.windows import windows

TIME_FIELDS = frozenset({"deadline", "earliest_start", "recurrence"})
RUN_NOW_WINDOW = timedelta(hours=24)


def workflow_create(
    *, account: User, idempotency_key: str | None = None, now: datetime | None = None, **fields: Any
) -> Workflow:
    """Return the new workflow, or the one that was made with the same key and the same fields before."""
    now = now or clock.now()
    digest = _digest(fields)
    known = _known(account, idempotency_key, digest)
    if known is not None:
        return known
    try:
        return _create(account, idempotency_key, digest, now, fields)
    except IntegrityError:  # the same key at the same moment
        known = _known(account, idempotency_key, digest)
        if known is None:
            raise
        return known


@transaction.atomic
def _create(account: User, key: str | None, digest: str, now: datetime, fields: dict[str, Any]) -> Workflow:
    workflow = Workflow(
        account=account,
        idempotency_key=key,
        body_sha256=digest,
        said_at=now,
        created_at=now,
        updated_at=now,
        **{name: value for name, value in fields.items() if value is not None},
    )
    _check(workflow)
    windows(words_of(workflow), now=now)  # switched off or not, its times have to be readable
    workflow.save(force_insert=True)
    occurrences_sync(workflow=workflow, now=now, edited=True)
    account_mark_due(account=account, cause="workflow", now=now)
    return workflow


def _digest(fields: dict[str, Any]) -> str:
    return sha256(json.dumps(fields, sort_keys=True, default=str).encode()).hexdigest()


def _known(account: User, key: str | None, digest: str) -> Workflow | None:
    known = Workflow.objects.filter(account=account, idempotency_key=key).first() if key else None
    if known is not None and known.body_sha256 != digest:
        words = "This Idempotency-Key was used for another workflow. Use a new key for a new workflow."
        raise Conflict(words, code="idempotency_key_reused")
    return known


def _check(workflow: Workflow) -> None:
    if workflow.interruptible and not workflow.controller_id:
        words = "Only a controller that registers its work can interrupt it: give controller_id, or leave this out."
        raise FieldRefused("interruptible", "controller_needed", words)
    if workflow.min_run_s > (workflow.est_duration_s or workflow.min_run_s):
        words = f"{workflow.min_run_s:g} s is longer than est_duration_s, {workflow.est_duration_s:g} s."
        raise FieldRefused("min_run_s", "too_long", words)


@transaction.atomic
def workflow_update(*, workflow: Workflow, now: datetime | None = None, **fields: Any) -> Workflow:
    """Change a workflow. Words of time that change count as said now; what has begun goes on as it was."""
    now = now or clock.now()
    account_lock(account=workflow.account)
    locked = Workflow.objects.select_related("account").get(pk=workflow.pk)
    changed = {name: value for name, value in fields.items() if getattr(locked, name) != value}
    if not changed:
        return locked
    for name, value in changed.items():
        setattr(locked, name, value)
    said_anew = not TIME_FIELDS.isdisjoint(changed)
    locked.updated_at, locked.said_at = now, now if said_anew else locked.said_at
    _check(locked)
    if said_anew:
        windows(words_of(locked), now=now)
    locked.save(update_fields=[*changed, "updated_at", "said_at"])
    if changed.get("enabled") is False:
        occurrences_cancel(workflow=locked, reason=DISABLED, now=now)
    elif changed.get("enabled"):
        occurrences_reopen(workflow=locked, now=now)
    elif said_anew:
        occurrences_sync(workflow=locked, now=now, edited=True)
    account_mark_due(account=locked.account, cause="workflow", now=now)
    return locked


@transaction.atomic
def workflow_delete(*, workflow: Workflow, now: datetime | None = None) -> None:
    """Delete a workflow. Its runs and what they saved stay; what runs now runs on."""
    now = now or clock.now()
    account_lock(account=workflow.account)
    workflow.deleted_at, workflow.enabled, workflow.updated_at = now, False, now
    workflow.save(update_fields=["deleted_at", "enabled", "updated_at"])
    occurrences_cancel(workflow=workflow, reason=DELETED, now=now)
    account_mark_due(account=workflow.account, cause="workflow", now=now)


@transaction.atomic
def workflow_skip_next(*, workflow: Workflow, now: datetime | None = None) -> Occurrence:
    """Leave the next time out that has not begun; it comes back no more."""
    now = now or clock.now()
    one = _next_unbegun(workflow, now)
    if one is None:
        raise Conflict(f"{workflow.name} has nothing before it that could be skipped.", code="nothing_to_skip")
    one.status, one.reason, one.ended_at = Occurrence.Status.CANCELLED, SKIPPED, now
    one.planned_start = one.planned_end = None
    one.save(update_fields=["status", "reason", "ended_at", "planned_start", "planned_end"])
    version_amend(account=workflow.account, cause=SKIPPED, amended=without([one.pk], now), now=now)
    account_mark_due(account=workflow.account, cause=SKIPPED, now=now)
    return one


@transaction.atomic
def workflow_run_now(*, workflow: Workflow, now: datetime | None = None) -> Occurrence:
    """Let the next time begin as soon as its machine is free, whatever it costs; without a next time, make one."""
    now = now or clock.now()
    if not workflow.enabled:
        raise Conflict(f"{workflow.name} is switched off. Switch it on first.", code="workflow_disabled")
    one = _next_unbegun(workflow, now) or Occurrence(
        account_id=workflow.account_id,
        workflow=workflow,
        key=f"now-{now:%Y-%m-%dT%H:%M:%SZ}",
        deadline=(now + RUN_NOW_WINDOW).replace(microsecond=0),
        created_at=now,
    )
    one.at_once, one.earliest_start = True, now.replace(microsecond=0)
    one.save()
    account_mark_due(account=workflow.account, cause="run now", now=now)
    return one


def _next_unbegun(workflow: Workflow, now: datetime) -> Occurrence | None:
    account_lock(account=workflow.account)
    rows = Occurrence.objects.filter(workflow=workflow, status=Occurrence.Status.OPEN)
    unbegun = rows.filter(started_at=None, deadline__gt=now).exclude(planned_start__lte=now)
    return unbegun.order_by("deadline").first()


def workflow_find(*, account: User, workflow_id: UUID) -> Workflow:
    """Return a workflow of the account; raises NotFound for a deleted or foreign one."""
    own = Workflow.objects.filter(account=account, deleted_at=None).select_related("account")
    found = own.filter(pk=workflow_id).first()
    if found is None:
        raise NotFound("workflow")
    return found
