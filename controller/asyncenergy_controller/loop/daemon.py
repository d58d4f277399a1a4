"""The loop: poll, execute, report; one job at a time, each occurrence once."""

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from asyncenergy_controller import clock
from asyncenergy_controller.adapters import heal_switches
from asyncenergy_controller.errors import ExitCode
from asyncenergy_controller.jobs.catalog import Catalog, CatalogFile
from asyncenergy_controller.loop.clockwatch import ClockWatch
from asyncenergy_controller.loop.due import (
    RunStatus,
    Standing,
    State,
    first_due,
    next_start,
    others_begin_by,
    standings,
)
from asyncenergy_controller.loop.history import History
from asyncenergy_controller.loop.permission import ends_at, why_not
from asyncenergy_controller.loop.polling import Poller
from asyncenergy_controller.loop.reports import Reports
from asyncenergy_controller.loop.running import Job, Runner, about
from asyncenergy_controller.loop.sending import Sender
from asyncenergy_controller.loop.slots import Slot, slots_of
from asyncenergy_controller.loop.status import Running, Situation, job_name, status_line, wall_time
from asyncenergy_controller.reporting import Spool, SpoolError

log = logging.getLogger("asyncenergy_controller.loop")

LATELY = timedelta(days=2)
"""Runs of today began within this, whatever the clock on the wall does."""
CATALOG_LOOK_S = 1.0


class Daemon:
    """Everything that the loop knows between two ticks. `stop` may be called from any thread."""

    def __init__(
        self,
        *,
        poller: Poller,
        catalog: CatalogFile,
        history: History,
        runner: Runner,
        reports: Reports,
        spool: Spool,
        sender: Sender,
        salt: bytes,
        state_dir: Path,
        watch_catalog: bool = False,
    ) -> None:
        self._poller = poller
        self._catalog_file = catalog
        self._history = history
        self._runner = runner
        self._reports = reports
        self._spool = spool
        self._sender = sender
        self._salt = salt
        self._state_dir = state_dir
        self._watch_catalog = watch_catalog
        self._clock_watch = ClockWatch()
        self._wake = threading.Event()
        self._is_stopping = False
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="job")
        self._job: Job | None = None
        self._future: Future[RunStatus] | None = None
        self._catalog = Catalog()
        self._told: set[str] = set()
        self._has_failed = False

    def stop(self) -> None:
        """End the job that runs, then the loop."""
        self._is_stopping = True
        self._runner.stop()
        self._wake.set()

    @property
    def exit_code(self) -> ExitCode:
        """What a single round ends with: 2 for a wrong catalog, 4 without the server, 1 where a job failed."""
        if self._catalog_file.problem is not None:
            return ExitCode.USAGE
        if self._poller.problem is not None:
            return self._poller.problem.exit_code
        return ExitCode.FAILED if self._has_failed else ExitCode.OK

    def run_forever(self) -> None:
        """Until `stop`."""
        with self._ending():
            while not self._is_stopping:
                polled = self._poller.poll_if_due()
                found = self._tick()
                if polled:
                    self._heal()
                    log.info("%s", self._line(found))
                self._sleep(found)

    def run_once(self) -> str:
        """Run what is due now, one after the other, and return the line that says what is left."""
        with self._ending():
            self._poller.poll()
            found = self._tick()
            while self._future is not None and not self._is_stopping:
                self._finish_job()
                found = self._tick()
        return self._line(found)

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """Whatever ends the loop: the job doesn't run on without it, and what can be sent is sent."""
        try:
            yield
        finally:
            self.stop()
            try:
                self._finish_job()
            finally:
                self._sender.finish()

    def _tick(self) -> list[Standing]:
        """Look at everything anew and begin what is due; return where each slot stands."""
        self._notice_jump()
        self._collect_job()
        found = self._look()
        self._report_missed(found)
        if self._future is None and first_due(found) is not None and not self._is_stopping:
            self._poller.freshen()
            found = self._look()
            if (slot := first_due(found)) is not None:
                self._begin(slot, others_begin_by(found, slot))
        return found

    def _look(self) -> list[Standing]:
        self._catalog = self._catalog_file.current()
        self._tell_of_catalog()
        schedule, now = self._poller.schedule, clock.now()
        slots = list(slots_of(schedule, self._poller.controller_id)) if schedule else []
        found = standings(
            slots,
            known=self._catalog.jobs.__contains__,
            past=self._history.past_of(slots),
            refusal=lambda slot: self._refusal(slot, now),
            now=now,
        )
        self._tell_of_unknown(found)
        return found

    def _refusal(self, slot: Slot, now: datetime) -> str | None:
        workflow_id = slot.placement.workflow_id
        started = self._history.starts(workflow_id, now - LATELY, but_for=slot)
        return why_not(slot, self._catalog.jobs[workflow_id], now, started)

    def _begin(self, slot: Slot, others: datetime | None) -> None:
        """Claim the slot on disk, then run it beside the loop."""
        entry, now = self._catalog.jobs[slot.placement.workflow_id], clock.now()
        claim = self._history.claim(slot, about(slot, entry, self._salt), now)
        if claim is None:
            return
        self._job = Job(claim, slot, entry, ends_at(slot, entry, now, others), others)
        self._future = self._worker.submit(self._runner.run, self._job)
        self._future.add_done_callback(lambda _: self._wake.set())

    def _collect_job(self) -> None:
        """Take note of a job that has ended; what went wrong inside of us ends us here, and a restart recovers."""
        if self._future is not None and self._future.done():
            self._finish_job()

    def _finish_job(self) -> None:
        if self._future is not None:
            self._has_failed |= self._future.result() == "error"
        self._future = self._job = None

    def _report_missed(self, found: list[Standing]) -> None:
        for one in found:
            if one.state is State.MISSED:
                self._miss(one)

    def _miss(self, one: Standing) -> None:
        """Say first, then note: dying in between says it twice, which changes nothing."""
        workflow_id = one.slot.placement.workflow_id
        said, now = about(one.slot, self._catalog.jobs[workflow_id], self._salt), clock.now()
        self._reports.missed(workflow_id, said, at=now)
        self._history.claim(one.slot, said, now, status="missed")
        name = job_name(self._catalog.jobs, workflow_id)
        log.warning("%s, due at %s, was not run: %s.", name, wall_time(one.slot.start, now), one.reason)

    def _heal(self) -> None:
        """A plug that could not be reached when its job ended is tried again."""
        if self._future is None:
            for sentence in heal_switches(self._state_dir):
                log.warning("%s", sentence)

    def _notice_jump(self) -> None:
        if (jump_s := self._clock_watch.jump_s()) is not None:
            way = "ahead" if jump_s > 0 else "back"
            log.warning("The clock was set %s by %.0f s; what is due is looked at anew.", way, abs(jump_s))

    def _tell_of_catalog(self) -> None:
        for sentence in filter(None, (self._catalog_file.problem, *self._catalog.warnings)):
            self._tell_once(sentence)

    def _tell_of_unknown(self, found: list[Standing]) -> None:
        for one in found:
            if one.state is State.UNKNOWN:
                self._tell_once(f"Workflow {one.slot.placement.workflow_id} is skipped: {one.reason}.")

    def _tell_once(self, sentence: str) -> None:
        if sentence not in self._told:
            self._told.add(sentence)
            log.warning("%s", sentence)

    def _line(self, found: list[Standing]) -> str:
        problem = self._poller.problem
        job = self._job
        return status_line(
            Situation(
                now=clock.now(),
                jobs=self._catalog.jobs,
                standings=found,
                schedule=self._poller.schedule,
                server_problem=problem.message if problem else None,
                catalog_problem=self._catalog_file.problem,
                running=Running(job.claim.workflow_id, job.ends) if job else None,
                waiting=self._waiting(),
            )
        )

    def _waiting(self) -> int | None:
        try:
            return self._spool.counts().waiting
        except SpoolError as error:
            self._tell_once(error.message)
            return None

    def _sleep(self, found: list[Standing]) -> None:
        """Until the next poll, the next start, the end of the job, or a moment in which the clock may have been set."""
        naps_s = [self._poller.pace.left_s(), clock.LONGEST_NAP_S * clock.factor()]
        if slot := next_start(found):
            naps_s.append((slot.start - clock.now()).total_seconds())
        if self._watch_catalog:
            naps_s.append(CATALOG_LOOK_S)
        clock.wait(self._wake, min(naps_s))
        self._wake.clear()
