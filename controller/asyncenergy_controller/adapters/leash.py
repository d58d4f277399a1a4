"""When a job has to end, whatever it is doing."""

import threading
from dataclasses import dataclass
from typing import Literal

from asyncenergy_controller import clock

Why = Literal["stop", "time"]


@dataclass(frozen=True)
class Leash:
    """Ends a job at `kill_at_s` on `clock.monotonic()`, or as soon as `stop` is set."""

    stop: threading.Event
    kill_at_s: float | None = None

    def shortened(self, timeout_s: float | None) -> "Leash":
        """The same, and at most `timeout_s` from now."""
        ends = [end for end in (self.kill_at_s, timeout_s and clock.monotonic() + timeout_s) if end is not None]
        return Leash(self.stop, min(ends, default=None))

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
