"""An account whose pages all have something to show: plan, misfit, run with samples, month, controllers, notices."""

from dataclasses import dataclass
from datetime import timedelta
from math import sin

from accounts.models import User
from asyncenergy import clock
from scheduling.models import RunRecord, ScheduleVersion, Workflow
from scheduling.services import (
    account_plan,
    account_update,
    controller_contact,
    notice_test,
    runs_ingest,
    runs_roll_up,
    samples_append,
    savings_settle_due,
)
from tests.scheduling.people import make_market, make_workflow, placement_of, plan

DAY = [0.12, 0.09, 0.05, 0.04, 0.06, 0.11, 0.2, 0.27, 0.28, 0.22, 0.15, 0.08, 0.02, -0.01, 0.04, 0.12]
EVENING = [0.2, 0.31, 0.36, 0.33, 0.27, 0.22, 0.18, 0.14]
SAMPLE_S = 20


@dataclass(frozen=True, slots=True)
class Night:
    """What there is to look at."""

    workflow: Workflow
    version: ScheduleVersion
    run: RunRecord


def make_night(account: User) -> Night:
    """Five days of prices around now, two nights of plans, and a run of the first of them."""
    now = clock.now()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    make_market(*(DAY + EVENING) * 5, start=midnight - timedelta(days=3))
    before = midnight - timedelta(hours=36)  # at noon: close to 7 the first night would hold no run
    workflow = make_workflow(account, now=before, name="nightly-embeddings", controller_id="box-1")
    run = _run(account, workflow, plan(account, before))
    make_workflow(account, name="evaluation", est_duration_s=7200.0, earliest_start="20:00", deadline="by 9am")
    make_workflow(account, name="reindex", est_duration_s=4 * 3600.0, earliest_start="03:00", controller_id="box-2")
    controller_contact(account=account, controller_id="box-1", version=1, now=now)
    controller_contact(account=account, controller_id="box-2", version=None, now=now - timedelta(hours=3))
    account_update(account=account, notices={"failed_runs": True})
    notice_test(account=account)
    version = account_plan(account=account, even_if_not_due=True)
    assert version is not None
    return Night(workflow, version, run)


def _run(account: User, workflow: Workflow, version: ScheduleVersion) -> RunRecord:
    placement = placement_of(version, workflow)
    start, end = placement.start, placement.end
    assert start is not None
    assert end is not None
    body = {
        "controller_id": "box-1",
        "run_id": "1",
        "workflow_id": str(workflow.pk),
        "occurrence_id": str(placement.occurrence_id),
        "exit_status": "success",
        "scheduled_start": start.isoformat(),
        "actual_start": start.isoformat(),
        "ts": end.isoformat(),
        "duration_s": 3600.0,
        "energy_wh": 284.0,
        "energy_source": "counter",
        "avg_w": 284.0,
        "peak_w": 341.0,
    }
    run = runs_ingest(account=account, body=body, now=end)[0].run
    moments = [start + timedelta(seconds=SAMPLE_S * i) for i in range(180)]
    samples = [{"ts": at.isoformat(), "power_w": 284 + 50 * sin(i / 9)} for i, at in enumerate(moments)]
    samples_append(account=account, run_id=run.pk, samples=samples)
    runs_roll_up()
    savings_settle_due(now=end + timedelta(days=3))
    return run
