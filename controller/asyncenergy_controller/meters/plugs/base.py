"""What every wall plug gives, and what no plug's answer is taken for."""

import math
from typing import Any, Protocol

from asyncenergy_controller.errors import MeterError

LIMIT_S = 2.0
"""Time limit of one question: a plug is asked once a second, on a thread of its own."""


class WallMeter(Protocol):
    """The power at the wall, asked one at a time."""

    name: str

    def read_w(self) -> float:
        """Return the power now, in watts. Raises MeterError with the reason where there is none."""
        ...

    def close(self) -> None: ...


def running_w(value: Any, plug: str) -> float:
    """Take a number of watts; a machine that runs behind the plug draws some."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise MeterError(f"{plug} answered {value!r} where its power in watts should be")
    if value <= 0:
        raise MeterError(f"{plug} answered {value} W: is this machine plugged into it?")
    return float(value)
