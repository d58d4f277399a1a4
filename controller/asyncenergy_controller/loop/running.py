"""Runs one claimed slot under the meter and says what came of it: to the server's spool first, then to the history."""

import logging
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID

from asyncenergy_controller import clock
from asyncenergy_controller.adapters import Outcome, fingerprint, run_entry
from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.jobs.entry import JobEntry
from asyncenergy_controller.loop.due import RunStatus
from asyncenergy_controller.loop.history import About, Claim, History
from asyncenergy_controller.loop.permission import ends_at
from asyncenergy_controller.loop.reports import Reports
from asyncenergy_controller.loop.slots import Slot
from asyncenergy_controller.loop.status import wall_time
from asyncenergy_controller.meters.apart import open_apart
from asyncenergy_controller.meters.base import Meter
from asyncenergy_controller.meters.null import NullMeter
from asyncenergy_controller.reporting import Measurement, measured
from asyncenergy_controller.server import ServerClient
from asyncenergy_controller.settings import Settings, revealed

log = logging.getLogger("asyncenergy_controller.loop")


@dataclass(frozen=True, slots=True)
class Job:
    """One slot that was claimed, what the catalog says to do, and when it is over at the latest."""

    claim: Claim
    slot: Slot
    entry: JobEntry
    ends: datetime
    others: datetime | None = None
    """When other work has to begin at the latest."""

    @property
    def name(self) -> str:
        return self.entry.name or self.claim.workflow_id


def about(slot: Slot, entry: JobEntry, salt: bytes) -> About:
    """What is kept of a run in case that it can't be asked any more. `salt` is this machine's."""
    return About(
        schedule_version=slot.version,
        scheduled_start=slot.placement.start.isoformat(),
        occurrence_id=slot.placement.occurrence_id,
        framework=entry.framework,
        fingerprint=fingerprint(entry, salt),
    )


class Runner:
    """Runs one job at a time, in whatever thread it is called. `stop` may be called from any other."""

    def __init__(self, settings: Settings, client: ServerClient, history: History, reports: Reports) -> None:
        self._settings = settings
        self._client = client
        self._history = history
        self._reports = reports
        self._shutdown = threading.Event()
        self._job_stop = threading.Event()

    def stop(self) -> None:
        """End the job that runs, in good order, and begin no other."""
        self._shutdown.set()
        self._job_stop.set()

    def run(self, job: Job) -> RunStatus:
        """Run to the end, report, and only then call it settled: dying in between repeats the report, not the run."""
        ends = wall_time(job.ends, job.claim.started_at)
        log.info("%s begins, at most until %s; its output: %s", job.name, ends, self._log_path(job))
        self._reports.started(job.claim)
        outcome, measurement = self._measured(job)
        status = self._status(job, outcome)
        self._reports.ended(job.claim, status, outcome, measurement, at=clock.now())
        self._history.settle(job.claim.run_id, status, clock.now(), done=outcome.done)
        log.log(
            logging.INFO if status in ("success", "paused") else logging.WARNING,
            "%s: %s after %.0f s, %s%s",
            job.name,
            status,
            measurement.duration_s * clock.factor(),
            energy_words(measurement),
            f"; {outcome.detail}" if outcome.detail else "",
        )
        return status

    def _measured(self, job: Job) -> tuple[Outcome, Measurement]:
        with (
            closing(self._open_meter()) as meter,
            self._capped(meter, job),
            measured(meter) as measuring,
            self._leash(job) as kill_at_s,
        ):
            outcome = run_entry(
                job.entry,
                run_id=UUID(job.claim.run_id),
                kill_at_s=kill_at_s,
                log_path=self._log_path(job),
                stop=self._job_stop,
                state_dir=self._settings.state_dir,
                piece=job.claim.number,
                done=job.claim.done,
            )
        return outcome, measuring.measurement

    def _capped(self, meter: Meter, job: Job) -> AbstractContextManager[object]:
        """The server's power cap around the job, where the owner allows that; only then is its code loaded."""
        if not self._settings.apply_power_cap:
            return nullcontext()
        from asyncenergy_controller.capping import capped

        return capped(self._client, self._settings, meter.info(), planned_w=job.slot.placement.cap_w)

    @contextmanager
    def _leash(self, job: Job) -> Iterator[float | None]:
        """The last piece is ended as a failure, on a clock that nobody sets; one before it is only interrupted.

        Its time begins now: what meter and cap took until here is not the job's.
        """
        self._job_stop = threading.Event()
        if self._shutdown.is_set():
            self._job_stop.set()
        ends_s = clock.monotonic_at(ends_at(job.slot, job.entry, clock.now(), job.others))
        if job.slot.is_last:
            yield ends_s
            return
        timer = threading.Timer(max(0.0, ends_s - clock.monotonic()), self._job_stop.set)
        timer.start()
        try:
            yield None
        finally:
            timer.cancel()

    def _status(self, job: Job, outcome: Outcome) -> RunStatus:
        """A piece that was ended because its time was over is only a pause."""
        if outcome.exit_status == "preempted" and not job.slot.is_last and not self._shutdown.is_set():
            return "paused"
        return outcome.exit_status

    def _open_meter(self) -> Meter:
        """The meter that is set; without one the work is done all the same, and its energy is not known."""
        settings = self._settings
        try:
            return open_apart(
                settings.meter, settings.device, wall=settings.wall, wall_secret=revealed(settings.wall_secret)
            )
        except ControllerError as error:
            log.warning("The run is not metered: %s", error.message)
            return NullMeter(error.message)
        except Exception as error:  # no fault of a meter stops the work
            log.exception("The run is not metered")
            return NullMeter(f"the meter can't be opened: {error!r}")

    def _log_path(self, job: Job) -> Path:
        return self._settings.job_log_dir / f"{job.claim.run_id}.log"


def energy_words(measurement: Measurement) -> str:
    if measurement.energy_wh is None:
        return "energy not measured"
    return f"{measurement.energy_wh:.3g} Wh ({measurement.energy_source})"
