"""Reports of an SDK: kept on disk, then sent in the background, so that no work waits for a server."""

import atexit
import logging
import os
import threading

from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.reporting import Counts, Drained, RunRecord, Sample, SpoolError, open_spool
from asyncenergy_controller.server import ServerClient
from asyncenergy_controller.settings import Settings

log = logging.getLogger(__name__)

EXIT_WAIT_S = 5.0
"""How long the end of the program waits for reports under way; what is left is sent at the next use."""


class Sender:
    """Everything between a run that ended and the server."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._begin()
        atexit.register(self.close)

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._spool = open_spool(self._settings)
        self._client = ServerClient(self._settings)
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._again = False

    @property
    def client(self) -> ServerClient:
        self._begin_anew_in_a_child()
        return self._client

    def report(self, record: RunRecord, samples: tuple[Sample, ...]) -> None:
        """Keep a run and send it soon. Never raises for what the disk or the server does."""
        self._begin_anew_in_a_child()
        try:
            self._spool.put_run(record, samples)
        except SpoolError as unkept:
            self._send_unkept(record, unkept)
        self.send_soon()

    def send_soon(self) -> None:
        """Send what waits, in the background."""
        self._begin_anew_in_a_child()
        with self._starting:
            self._again = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._send_all, name="energy-reports", daemon=True)
                self._thread.start()

    def flush(self) -> Drained:
        """Send what waits now, after what is under way."""
        self._begin_anew_in_a_child()
        self._join(None)
        return self._spool.drain(self._client, at_once=True)

    def waiting(self) -> Counts:
        """What waits. Raises SpoolError."""
        return self._spool.counts()

    def close(self) -> None:
        """Wait a little for what is being sent; nothing is sent afterwards."""
        atexit.unregister(self.close)
        if self._join(EXIT_WAIT_S):
            self._client.close()

    def _begin_anew_in_a_child(self) -> None:
        """A forked process has neither its parent's threads nor, safely, its connections and locks."""
        if self._pid != os.getpid():
            self._begin()

    def _join(self, seconds: float | None) -> bool:
        """Wait for what is being sent; return whether all of it was."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return thread is None or not thread.is_alive()

    def _send_all(self) -> None:
        while self._is_wanted():
            if problem := self._spool.drain(self._client).problem:
                log.warning("Reports are kept and sent later: %s", problem)

    def _is_wanted(self) -> bool:
        """Whether there is something since the last time; without it the thread ends."""
        with self._starting:
            wanted, self._again = self._again, False
            if not wanted:
                self._thread = None
            return wanted

    def _send_unkept(self, record: RunRecord, unkept: SpoolError) -> None:
        try:
            self._client.post_runs([record.as_json()])
        except ControllerError as error:
            log.error("The report of run %s is lost: %s; %s", record.run_id, unkept.message, error.message)
