"""Empties the spool beside the loop, so that a slow server never delays a start."""

import logging
import threading

from asyncenergy_controller import clock
from asyncenergy_controller.reporting import Spool
from asyncenergy_controller.server import ServerClient

log = logging.getLogger("asyncenergy_controller.loop")

LOOK_S = 5.0
"""How often is looked whether the spool's own back-off is over."""
LAST_WORDS_S = 10.0
"""What is not sent by then at the end waits for the next start."""


class Sender:
    """A thread that sends what waits: at once when there is news, and again until nothing is left."""

    def __init__(self, spool: Spool, client: ServerClient) -> None:
        self._spool = spool
        self._client = client
        self._news = threading.Event()
        self._is_ending = threading.Event()
        self._problem: str | None = None
        self._thread = threading.Thread(target=self._work, name="sender", daemon=True)

    def start(self) -> None:
        """Begin with what an earlier process left."""
        self.news()
        self._thread.start()

    def news(self) -> None:
        """There is something to send."""
        self._news.set()

    def finish(self) -> None:
        """Send what can be sent now, and end."""
        self._is_ending.set()
        self.news()
        self._thread.join(2 * LAST_WORDS_S)

    def _work(self) -> None:
        is_left = False
        while not self._is_ending.is_set():
            self._news.wait(LOOK_S / clock.factor() if is_left else None)
            self._news.clear()
            is_left = self._send()
        self._send()

    def _send(self) -> bool:
        """Send, and return whether anything is left."""
        is_ending = self._is_ending.is_set()
        drained = self._spool.drain(self._client, within_s=LAST_WORDS_S, at_once=is_ending)
        if drained.problem and drained.problem != self._problem:
            log.warning("%s reports wait for the server: %s", drained.left, drained.problem)
        elif drained.sent:
            log.info("The server has %d more reports; %s wait.", drained.sent, drained.left)
        self._problem = drained.problem
        return drained.left != 0
