"""Notices when the time of day was set: by hand, by the network, or by a flat battery."""

from asyncenergy_controller import clock

TOLERANCE_S = 2.0
"""What a clock that is only steered gently never drifts between two looks."""


class ClockWatch:
    """Compares the time of day with the clock that nobody can set. A sleeping machine is no jump: both go on."""

    def __init__(self) -> None:
        self._offset_s = _offset_s()

    def jump_s(self) -> float | None:
        """Seconds that the time of day was set ahead (back: below 0) since the last look; None where it wasn't."""
        offset_s = _offset_s()
        jump_s, self._offset_s = offset_s - self._offset_s, offset_s
        return jump_s if abs(jump_s) > TOLERANCE_S * clock.factor() else None


def _offset_s() -> float:
    return clock.now().timestamp() - clock.factor() * clock.monotonic()
