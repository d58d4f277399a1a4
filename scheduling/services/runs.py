"""Run records and their samples, as controllers report them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts.models import User
from asyncenergy import clock
from scheduling.errors import FieldRefused, NotFound
from scheduling.models import Placement, PowerProfile, RunRecord, SampleBatch, Workflow
from scheduling.packing import packed
from scheduling.records import SAMPLE, Reading, record_reading, samples_reading
from scheduling.rollup import rolled_up
from scheduling.selectors.samples import batch_times, columns_of
from scheduling.services.acks import occurrence_of, workflow_of
from scheduling.services.claims import account_lock
from scheduling.services.occurrences import occurrence_fail, occurrence_finish
from scheduling.services.savings import savings_add, savings_enter

SAMPLES_AT_MOST = 10_000
SAME_START = timedelta(seconds=1)
LINKS = ("workflow_id", "occurrence_id")


@dataclass(frozen=True, slots=True)
class Taken:
    """One record: stored now, or known from before."""

    run: RunRecord
    is_new: bool


def runs_ingest(*, account: User, body: Any, now: datetime | None = None) -> list[Taken]:
    """Take in one record or a list of them. Sending a record again changes nothing and gives the same id.

    Raises FieldRefused, with nothing stored, where the ids or the time of one can't be read.
    """
    now = now or clock.now()
    is_list = isinstance(body, list)
    records: Sequence[Any] = body if is_list else [body]
    readings = [record_reading(one, str(i) if is_list else "") for i, one in enumerate(records)]
    return [_take(account, reading, now) for reading in readings]


def _take(account: User, reading: Reading, now: datetime) -> Taken:
    values = reading.values
    same = {name: values[name] for name in ("controller_id", "run_id")}
    known = RunRecord.objects.filter(account=account, **same).first()
    if known is not None:
        return Taken(known, False)
    try:
        return Taken(_insert(account, reading, now), True)
    except IntegrityError:  # the same record at the same moment
        return Taken(RunRecord.objects.get(account=account, **same), False)


@transaction.atomic
def _insert(account: User, reading: Reading, now: datetime) -> RunRecord:
    values = {name: value for name, value in reading.values.items() if name not in LINKS}
    warnings = list(reading.warnings)
    account_lock(account=account)
    workflow = _workflow(account, reading.values["workflow_id"], warnings)
    placement = _placement(account, workflow, reading.values, warnings)
    run = RunRecord.objects.create(
        account=account,
        workflow=placement.workflow if placement else workflow,
        occurrence=placement.occurrence if placement else None,
        cap_w=placement.cap_w if placement else None,
        piece_of_attempt=placement.attempt if placement and len(placement.pieces) > 1 else None,
        warnings=warnings,
        received_at=now,
        **values,
    )
    if placement is not None:
        _effect(run, placement, now)
    return run


def _workflow(account: User, text: str | None, warnings: list[str]) -> Workflow | None:
    """A workflow that is deleted still is the account's; one that is unknown or foreign is stored as null."""
    found = workflow_of(account, text)
    if text and found is None:
        warnings.append("workflow_id: you have no such workflow; it is stored as null")
    return found


def _placement(
    account: User, workflow: Workflow | None, values: Mapping[str, Any], warnings: list[str]
) -> Placement | None:
    """The newest placement that the run is an attempt of, by its occurrence or by its workflow, and its start."""
    placements = Placement.objects.filter(feasible=True, version__account=account)
    start: datetime | None = values["scheduled_start"]
    occurrence = occurrence_of(account, values["occurrence_id"])
    if values["occurrence_id"] and occurrence is None:
        warnings.append("occurrence_id: you have no such occurrence; it is stored as null")
    if occurrence is not None:
        placements = placements.filter(occurrence=occurrence)
    elif workflow is not None and start is not None:
        placements = placements.filter(workflow=workflow)
    else:
        return None
    if start is not None:
        placements = placements.filter(start__gt=start - SAME_START, start__lt=start + SAME_START)
    newest = placements.select_related("occurrence", "workflow", "version").order_by("-version__number")
    return newest.first()


def _effect(run: RunRecord, placement: Placement, now: datetime) -> None:
    if run.exit_status == RunRecord.Exit.SUCCESS:
        occurrence_finish(occurrence_id=placement.occurrence_id, now=now)
        savings_enter(run=run, placement=placement)
    elif run.exit_status == RunRecord.Exit.ERROR:
        occurrence_fail(placement=placement, now=now)
    elif run.piece_of_attempt is not None:
        savings_add(piece=run)


def samples_append(*, account: User, run_id: UUID, samples: Any, now: datetime | None = None) -> tuple[int, list[str]]:
    """Store samples of a run whose time is not stored yet; return how many that were, and what could not be read."""
    if not isinstance(samples, list):
        raise FieldRefused("samples", "unreadable", "A list of samples is needed.")
    if len(samples) > SAMPLES_AT_MOST:
        words = f"{len(samples)} are too many at once; send at most {SAMPLES_AT_MOST:,}."
        raise FieldRefused("samples", "too_many", words)
    found, warnings = samples_reading(samples)
    with transaction.atomic():
        run = RunRecord.objects.select_for_update(no_key=True).filter(account=account, pk=run_id).first()
        if run is None:
            raise NotFound("run")
        stored = _stored_times(run, found)
        new = {at: sample for at, sample in found.items() if at not in stored}
        if new:
            _store_batch(run, new)
    return len(new), warnings


def _stored_times(run: RunRecord, found: Mapping[datetime, Any]) -> frozenset[datetime]:
    """The times that are stored between the first and the last of what came."""
    if not found:
        return frozenset()
    batches = SampleBatch.objects.filter(run=run, first_ts__lte=max(found), last_ts__gte=min(found))
    return frozenset(at for batch in batches for at in batch_times(batch))


def _store_batch(run: RunRecord, new: Mapping[datetime, Mapping[str, Any]]) -> None:
    times = sorted(new)
    columns: dict[str, list[Any]] = {name: [new[at][name] for at in times] for name in SAMPLE}
    columns["offset_us"] = [(at - times[0]) // timedelta(microseconds=1) for at in times]
    SampleBatch.objects.create(
        run=run, first_ts=times[0], last_ts=times[-1], count=len(times), columns_zlib=packed(columns)
    )
    run.rollup_due = True
    run.save(update_fields=["rollup_due"])


def runs_roll_up(*, limit: int = 200, now: datetime | None = None) -> int:
    """Derive the figures of runs that got samples; return how many."""
    due = list(RunRecord.objects.filter(rollup_due=True).order_by("received_at")[:limit])
    for run in due:
        run_roll_up(run=run, now=now)
    return len(due)


@transaction.atomic
def run_roll_up(*, run: RunRecord, now: datetime | None = None) -> PowerProfile:
    """Derive one run's figures from all its samples."""
    RunRecord.objects.select_for_update(no_key=True).get(pk=run.pk)
    figures = rolled_up(columns_of(run))
    profile, _ = PowerProfile.objects.update_or_create(
        run=run,
        defaults={
            "bucket_s": figures.bucket_s,
            "wh": list(figures.wh),
            "p95_w": figures.p95_w,
            "throttled_s": figures.throttled_s,
            "cpu_wh": figures.cpu_wh,
            "sampled_wh": figures.sampled_wh,
            "n_samples": figures.n_samples,
            "updated_at": now or clock.now(),
        },
    )
    RunRecord.objects.filter(pk=run.pk).update(rollup_due=False)
    return profile
