"""What is said to the server of a run: put into the spool, which sends it when the server can be reached."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from asyncenergy_controller import clock
from asyncenergy_controller.adapters import Outcome
from asyncenergy_controller.loop.due import RunStatus
from asyncenergy_controller.loop.history import About, Claim
from asyncenergy_controller.reporting import Ack, Measurement, RunRecord, Spool
from asyncenergy_controller.reporting.records import Event, ExitStatus

EXIT: dict[RunStatus, ExitStatus] = {
    "success": "success",
    "error": "error",
    "preempted": "preempted",
    "paused": "preempted",
}
EVENT: dict[RunStatus, Event] = {"success": "finished", "error": "failed", "preempted": "failed"}
"""A pause says nothing of the placement: the next piece goes on with it."""


class Reports:
    """Says things of runs. Saying something again has no further effect."""

    def __init__(self, spool: Spool, controller_id: str, kept: Callable[[], None]) -> None:
        """`kept` is called when there is something to send."""
        self._spool = spool
        self._controller_id = controller_id
        self._kept = kept

    def started(self, claim: Claim) -> None:
        """Said once of an attempt: its later pieces go on with it."""
        if claim.number == 1:
            self._ack("started", claim.workflow_id, claim.about, claim.started_at)

    def ended(
        self, claim: Claim, status: RunStatus, outcome: Outcome, measurement: Measurement, *, at: datetime
    ) -> None:
        """The record with its samples, and what it means for the placement."""
        record = replace(
            measurement.onto(self._record(claim, status, at)),
            duration_s=measurement.duration_s * clock.factor(),
            work_units=outcome.work_units,
            work_unit_kind=outcome.work_unit_kind,
        )
        self._spool.put_run(record, measurement.samples)
        self._kept()
        self._follow(claim, status, at)

    def cut_off(self, claim: Claim, status: RunStatus, *, at: datetime) -> None:
        """The run of a controller that died. Where its end was kept just before that, the spool keeps to it."""
        self._spool.put_run(self._record(claim, status, at))
        self._follow(claim, status, at)

    def missed(self, workflow_id: str, about: About, *, at: datetime) -> None:
        """Nothing was run, and it is too late to begin."""
        self._ack("failed", workflow_id, about, at)

    def _follow(self, claim: Claim, status: RunStatus, at: datetime) -> None:
        if event := EVENT.get(status):
            self._ack(event, claim.workflow_id, claim.about, at)

    def _record(self, claim: Claim, status: RunStatus, at: datetime) -> RunRecord:
        return RunRecord(
            controller_id=self._controller_id,
            run_id=claim.run_id,
            ts=at,
            workflow_id=claim.workflow_id,
            occurrence_id=claim.about.occurrence_id,
            schedule_version=claim.about.schedule_version,
            fingerprint=claim.about.fingerprint,
            framework=claim.about.framework,
            exit_status=EXIT[status],
            scheduled_start=datetime.fromisoformat(claim.about.scheduled_start),
            actual_start=claim.started_at,
        )

    def _ack(self, event: Event, workflow_id: str, about: About, at: datetime) -> None:
        self._spool.put_ack(
            Ack(
                schedule_version=about.schedule_version,
                event=event,
                workflow_id=workflow_id,
                at=at,
                occurrence_id=about.occurrence_id,
                controller_id=self._controller_id,
            )
        )
        self._kept()
