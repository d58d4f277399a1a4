"""The energy that went through a plug, by its own counter."""

from asyncenergy_controller.clock import monotonic
from asyncenergy_controller.errors import MeterError
from asyncenergy_controller.meters.plugs.base import Switch


class CounterFell(MeterError):
    """A counter that was reset: the difference to its start means nothing."""


class Counter:
    """Watt-hours since `start`. A counter that falls has lost its count, and is an error."""

    def __init__(self, switch: Switch, silent_s: float) -> None:
        """`silent_s`: how long it may fail before that is an error."""
        self._switch = switch
        self._silent_s = silent_s
        self._start_wh: float | None = None
        self._last_wh = 0.0
        self._heard_s = monotonic()

    def start(self) -> None:
        """Count from now. Raises MeterError where there is no counter."""
        self._start_wh = self._switch.energy_wh()
        self._last_wh, self._heard_s = 0.0, monotonic()

    def read(self) -> float:
        """Return the watt-hours so far; the last known ones while it is silent. Raises MeterError after too long."""
        try:
            return self._counted()
        except CounterFell:
            raise
        except MeterError:
            if monotonic() - self._heard_s >= self._silent_s:
                raise
            return self._last_wh

    def final(self) -> float | None:
        """Return the watt-hours up to now; None where they are not known."""
        try:
            return None if self._start_wh is None else self._counted()
        except MeterError:
            return None

    def _counted(self) -> float:
        now_wh = self._switch.energy_wh() - (self._start_wh or 0.0)
        if now_wh < self._last_wh:
            raise CounterFell(f"the counter of the {self._switch.name} plug fell, so what was charged is not known")
        self._last_wh, self._heard_s = now_wh, monotonic()
        return now_wh
