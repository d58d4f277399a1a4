"""The one flag that says why a benchmark shall end."""

import threading

from asyncenergy_controller.bench.store import State


class StopFlag:
    """The first reason stays. Set from a signal handler, a worker or the main thread."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.state: State = "interrupted"
        self._event = threading.Event()

    def set(self, reason: str, state: State = "interrupted") -> None:
        if self.reason is None:
            self.reason, self.state = reason, state
            self._event.set()

    def wait(self, seconds: float) -> None:
        """Sleep, but no longer than until there is a reason to stop."""
        self._event.wait(seconds)
