"""Where reports wait until the server has them: on disk before they count as kept, sent in order, effective once."""

import logging
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.files import lock
from asyncenergy_controller.reporting.backoff import Backoff
from asyncenergy_controller.reporting.beside import Beside
from asyncenergy_controller.reporting.outbox import Outbox, Report
from asyncenergy_controller.reporting.records import Ack, RunRecord, Sample
from asyncenergy_controller.reporting.repair import is_damage, set_aside_damaged
from asyncenergy_controller.reporting.rows import Kind
from asyncenergy_controller.reporting.sending import Server, send
from asyncenergy_controller.settings import Settings

Result = TypeVar("Result")
log = logging.getLogger(__name__)

BYTES_PER_SAMPLE = 700
"""On disk, where thinning has left pages half empty; a full page takes half of it."""
SAMPLES_AT_MOST = 285_000
"""Over three days at one a second, at most some 200 MB."""
WITHIN_S = 60.0


class SpoolError(ControllerError):
    """The spool can't be used; a report that was to be kept is still the caller's."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What waits, and what was set aside because the server refused it for good."""

    runs: int
    acks: int
    samples: int
    set_aside: int

    @property
    def waiting(self) -> int:
        """Reports that are still to be sent: 0 when the server has everything."""
        return self.runs + self.acks


@dataclass(frozen=True, slots=True)
class Drained:
    """What one attempt sent, what is left (None: unknown), and what stopped it."""

    sent: int
    left: int | None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class SetAside:
    """A report that the server will not take, and its words."""

    kind: Kind
    key: str
    reason: str


class Spool:
    """One file of reports to one server. Any number of processes and threads may use it at once.

    A file that can't be written (locked, a full disk) leaves the report in one beside it; a damaged file is kept under
    another name, and what can still be read of it goes on.
    """

    def __init__(self, path: Path, *, samples_at_most: int = SAMPLES_AT_MOST, backoff: Backoff | None = None) -> None:
        """Over `samples_at_most` the oldest run, of those thinned least, loses every second sample; no record goes."""
        self.path = path
        self._outbox = Outbox(path, samples_at_most)
        self._beside = Beside(path)
        self._backoff = backoff or Backoff()
        self._problem: str | None = None

    def put_run(self, record: RunRecord, samples: Sequence[Sample] = ()) -> None:
        """Keep a run. It is on disk when this returns; keeping it again adds only new samples. Raises SpoolError."""
        self._put(Report("run", f"{record.controller_id}/{record.run_id}", record.as_json(), samples))

    def put_ack(self, ack: Ack) -> None:
        """Keep an ack. It is on disk when this returns; keeping it again changes nothing. Raises SpoolError."""
        about = ack.occurrence_id or ack.at.isoformat()
        self._put(Report("ack", f"{ack.workflow_id}/{about}/{ack.schedule_version}/{ack.event}", ack.as_json()))

    def drain(self, client: Server, *, within_s: float = WITHIN_S, at_once: bool = False) -> Drained:
        """Send what waits, oldest first, records and acks before samples. Never raises for what the server does.

        After a failure it does nothing for a while, longer each time, unless `at_once`. It ends after `within_s`
        seconds and the call then under way; what is left goes next time.
        """
        if self._backoff.left_s > 0 and not at_once:
            return Drained(0, self._left(), self._problem)
        try:
            sent, problem = self._send_alone(client, within_s)
        except (sqlite3.Error, OSError) as error:
            sent, problem = 0, self._unusable(error)
        self._problem = problem
        if problem is None:
            self._backoff.worked()
        else:
            self._backoff.failed()
        return Drained(sent, self._left(), problem)

    def counts(self) -> Counts:
        """What waits. Raises SpoolError where the spool can't be read."""
        with self._readable():
            self._move_from_beside()
            found = self._used(self._outbox.counts)
        return Counts(found["run"], found["ack"], found["sample"], found["refused"])

    def set_aside(self) -> list[SetAside]:
        """What the server refused for good. Raises SpoolError where the spool can't be read."""
        with self._readable():
            return [SetAside(*row) for row in self._used(self._outbox.refused)]

    def retry_set_aside(self) -> int:
        """Send everything that was set aside again; return how much that is. Raises SpoolError."""
        with self._readable():
            return self._used(self._outbox.unrefuse)

    def _put(self, report: Report) -> None:
        try:
            self._used(lambda: self._outbox.put([report]))
        except (sqlite3.Error, OSError) as error:
            self._put_beside(report, error)

    def _used(self, use: Callable[[], Result]) -> Result:
        """Use the outbox; where its file is damaged, that is set aside first."""
        try:
            return use()
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
        log.error("%s", set_aside_damaged(self._outbox))
        return use()

    def _put_beside(self, report: Report, why: Exception) -> None:
        try:
            self._beside.add(report)
        except OSError as error:
            raise SpoolError(
                f"{self._unusable(why)}, nor can the file beside it ({error}): make room there."
            ) from error
        log.warning("%s; the report is kept in %s until it can", self._unusable(why), self._beside.path)

    def _send_alone(self, client: Server, within_s: float) -> tuple[int, str | None]:
        """Nothing is sent where another process is sending the same."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        alone = lock(self.path.with_suffix(".sending"))
        if alone is None:
            return 0, None
        with alone:
            self._move_from_beside()
            return self._used(lambda: send(self._outbox, client, within_s))

    def _left(self) -> int | None:
        try:
            return self.counts().waiting
        except SpoolError:
            return None

    def _move_from_beside(self) -> None:
        if torn := self._beside.move_to(lambda reports: self._used(lambda: self._outbox.put(reports))):
            log.error("%d lines of %s can't be read and stay there", torn, self._beside.path)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise SpoolError(self._unusable(error)) from error

    def _unusable(self, error: Exception) -> str:
        return f"the spool {self.path} can't be used ({error})"


def open_spool(settings: Settings) -> Spool:
    """The spool of the settings' server: reports meant for one never go to another."""
    path = settings.state_dir / "spool" / f"{_file_name(settings.api_url)}.sqlite3"
    return Spool(path, samples_at_most=int(settings.spool_max_mb * 1e6 / BYTES_PER_SAMPLE))


def _file_name(api_url: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]+", "_", api_url.partition("://")[2])
