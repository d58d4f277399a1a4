"""What every wall plug gives, and what no plug's answer is taken for."""

import math
from collections.abc import Sequence
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


def outlet_of(outlets: Sequence[Any], channel: str, plug: str) -> Any:
    """Take the outlet that `channel` names, counted from 1. Raises MeterError where it names none."""
    if not channel.isdecimal() or not 1 <= int(channel) <= len(outlets):
        raise MeterError(f"{plug} has {len(outlets)} outlets: add #1 to #{len(outlets)} to its address")
    return outlets[int(channel) - 1]


class Switch(Protocol):
    """A plug that can be switched, asked by one thread at a time. Each call raises MeterError where it failed."""

    name: str

    def turn_on(self, at_most_s: float | None = None) -> None:
        """Switch on. A plug with a timer of its own goes off after `at_most_s`, also when nobody is there any more."""
        ...

    def turn_off(self) -> None: ...

    def is_on(self) -> bool: ...

    def energy_wh(self) -> float:
        """Return the plug's own counter, in watt-hours since some time in the past."""
        ...

    def close(self) -> None: ...


def counted_wh(value: Any, plug: str, *, wh_per_unit: float) -> float:
    """Take the reading of an energy counter."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise MeterError(f"{plug} answered {value!r} where its energy counter should be")
    return float(value) * wh_per_unit


def switched(value: Any, plug: str) -> bool:
    """Take a switch's state."""
    if not isinstance(value, bool):
        raise MeterError(f"{plug} answered {value!r} where it should say whether it is on")
    return value
