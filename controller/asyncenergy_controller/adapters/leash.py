"""When a job has to end, whatever it is doing."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from asyncenergy_controller import clock

POLL_S = 0.1
Why = Literal["stop", "time"]


@dataclass(frozen=True)
class Leash:
    """Ends a job at `kill_at_s` on `clock.monotonic()`, or as soon as `stop` is set."""

    stop: threading.Event
    kill_at_s: float | None = None

    def shortened(self, timeout_s: float | None) -> "Leash":
        """The same, and at most `timeout_s` of `clock.now()` from now."""
        if timeout_s is None:
            return self
        end_s = clock.monotonic() + timeout_s / clock.factor()
        return Leash(self.stop, end_s if self.kill_at_s is None else min(self.kill_at_s, end_s))

    def over(self) -> Why | None:
        """Why the job has to end now; None where it may go on."""
        if self.stop.is_set():
            return "stop"
        return "time" if self.kill_at_s is not None and clock.monotonic() >= self.kill_at_s else None

    def left_s(self, longest_s: float) -> float:
        """Seconds until it has to end, at most `longest_s`, never below 0."""
        if self.kill_at_s is None:
            return longest_s
        return min(max(self.kill_at_s - clock.monotonic(), 0.0), longest_s)

    def wait(self, seconds: float) -> None:
        """Wait that long, or until the job has to end."""
        self.stop.wait(self.left_s(seconds))

    @contextmanager
    def calls(self, break_off: Callable[[], None]) -> Iterator[None]:
        """Call `break_off`, on a thread of its own, when the job has to end while the block goes on."""
        finished = threading.Event()

        def watch() -> None:
            while not finished.wait(POLL_S):
                if self.over() is not None:
                    break_off()
                    return

        thread = threading.Thread(target=watch, name="leash", daemon=True)
        thread.start()
        try:
            yield
        finally:
            finished.set()
            thread.join()
