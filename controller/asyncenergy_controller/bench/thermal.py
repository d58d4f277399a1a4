"""A card that its own hardware slows down for heat is given time to cool, and given up if it doesn't."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from asyncenergy_controller.bench.stop import StopFlag
from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.meters.base import Reading
from asyncenergy_controller.metrics.throttling import HW_THERMAL


class TooHot(ControllerError):
    """The card stayed in thermal slowdown for too long."""


@dataclass
class ThermalGuard:
    """Watches the readings of one run; every worker passes `wait_until_cool` between two items."""

    sustained_s: float = 10.0
    poll_s: float = 5.0
    give_up_s: float = 300.0
    hot_since_s: float | None = None
    now_s: float = 0.0
    gave_up: TooHot | None = None
    _one_waits: threading.Lock = field(default_factory=threading.Lock)

    def watch(self, reading: Reading) -> None:
        """Take one reading. A reading without the mask says nothing, so it changes nothing."""
        self.now_s = reading.t_s
        if reading.throttle_mask is None:
            return
        if not reading.throttle_mask & HW_THERMAL:
            self.hot_since_s = None
        elif self.hot_since_s is None:
            self.hot_since_s = reading.t_s

    @property
    def hot_s(self) -> float:
        """Seconds since the slowdown began, 0 where there is none."""
        return 0.0 if self.hot_since_s is None else self.now_s - self.hot_since_s

    def wait_until_cool(self, stop: StopFlag, note: Callable[[str], None]) -> None:
        """Return at once where the slowdown is not sustained. Raises TooHot after `give_up_s` of waiting."""
        with self._one_waits:
            if self.gave_up:  # the others that were waiting need not wait as long again
                raise self.gave_up
            if self.hot_s < self.sustained_s:
                return
            note(f"paused: the card slows itself down for heat since {self.hot_s:.0f} s")
            waited_s = 0.0
            while self.hot_since_s is not None and stop.reason is None:
                if waited_s >= self.give_up_s:
                    self.gave_up = TooHot(
                        f"The card was still too hot after {waited_s:.0f} s of waiting; improve its cooling."
                    )
                    raise self.gave_up
                stop.wait(self.poll_s)
                waited_s += self.poll_s
            note(f"resumed after {waited_s:.0f} s")
