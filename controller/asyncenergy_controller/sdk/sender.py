"""Reports of an SDK: kept on disk, then sent in the background, so that no work waits for a server."""

import atexit
import logging
import threading

from asyncenergy_controller.reporting import Counts, Drained, RunRecord, Sample, SpoolError, open_spool
from asyncenergy_controller.server import ServerClient, ServerError
from asyncenergy_controller.settings import Settings

log = logging.getLogger(__name__)

EXIT_WAIT_S = 5.0
"""How long the end of the program waits for reports under way; what is left is sent at the next use."""


class Sender:
    """Everything between a run that ended and the server."""

    def __init__(self, settings: Settings, client: ServerClient) -> None:
        self._spool = open_spool(settings)
        self._client = client
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._again = False
        atexit.register(self.close)

    def report(self, record: RunRecord, samples: tuple[Sample, ...]) -> None:
        """Keep a run and send it soon. Never raises for what the disk or the server does."""
        try:
            self._spool.put_run(record, samples)
        except SpoolError as unkept:
            self._send_unkept(record, unkept)
        self.send_soon()

    def send_soon(self) -> None:
        """Send what waits, in the background."""
        with self._starting:
            self._again = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._send_all, name="energy-reports", daemon=True)
                self._thread.start()

    def flush(self) -> Drained:
        """Send what waits now, after what is under way."""
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
        except ServerError as error:
            log.error("The report of run %s is lost: %s; %s", record.run_id, unkept.message, error.message)
