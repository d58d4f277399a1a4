"""Energy of a whole trace: power integrated over time, and counters read at two instants.

Plain numbers alone: what a controller keeps loaded all day needs these and no arrays. None, NaN and infinities are no
measurements.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import fsum, inf, isfinite
from typing import Any

MAX_HOLE_S = 30.0
NAMED_SOURCES = frozenset({"rapl", "ioreport", "amdsmi", "simulated"})
"""Families of sources that keep their name whichever of their readings was used."""

Values = Iterable[float | None]


@dataclass(frozen=True, slots=True)
class CounterReading:
    """Energy between the first and the last valid reading, or None and why it is void."""

    joules: float | None
    reason: str | None = None


def trapezoid_j(steps_s: Any, from_w: Any, to_w: Any) -> Any:
    """Joules of steps in which the power goes from one value to another; numbers or arrays alike."""
    return steps_s * (to_w + from_w) / 2


def integrated_energy_j(t_s: Values, power_w: Values) -> CounterReading:
    """What `integrate_power_j` gives, and the reason where it gives None."""
    times, power = _times(t_s), list(power_w)
    if len(times) != len(power):
        raise ValueError(f"columns must have one length, got {{'t_s': {len(times)}, 'power_w': {len(power)}}}")
    valid = [(at, watts) for at, watts in zip(times, power, strict=True) if watts is not None and isfinite(watts)]
    if len(valid) < 2:
        return CounterReading(None, "too_few_samples" if valid else "power_unsupported")
    if max(later - at for (at, _), (later, _) in pairwise(valid)) > MAX_HOLE_S:
        return CounterReading(None, "hole_over_30_s")
    steps = (trapezoid_j(later - at, watts, then) for (at, watts), (later, then) in pairwise(valid))
    return CounterReading(fsum(steps))


def integrate_power_j(t_s: Values, power_w: Values) -> float | None:
    """Trapezoid of power in W over rising times in s, in J.

    Missing samples are skipped. None with fewer than two valid samples or a hole of over 30 s: the energy in
    a hole was not measured. Raises ValueError for columns of different length or times that do not rise.
    """
    return integrated_energy_j(t_s, power_w).joules


def counter_energy_j(readings_mj: Values) -> CounterReading:
    """Last minus first valid reading of a counter in mJ, in J.

    The first valid reading is a baseline. A counter that falls was reset: void, since what it lost is unknown. One
    that did not move has measured nothing: what runs draws power, so its step was not yet over, or it is stuck.
    """
    valid = _valid(readings_mj)
    fell = any(later < earlier for earlier, later in pairwise(valid))
    return _counted(valid, "counter_reset" if fell else None, 1e3)


def wrapping_counter_energy_j(readings_uj: Values, range_uj: float | None) -> CounterReading:
    """Energy in J of a counter in µJ that starts again at 0 after `range_uj` (RAPL); each wrap is corrected."""
    unwrapped, reason = unwrap_uj(readings_uj, range_uj)
    return _counted(_valid(unwrapped), reason, 1e6)


def unwrap_uj(readings_uj: Values, range_uj: float | None) -> tuple[list[float | None], str | None]:
    """The readings with every wrap added back; missing ones stay missing. Void ones end where they can't be followed,
    with the reason."""
    unwrapped: list[float | None] = []
    last, added = -inf, 0.0
    for value in readings_uj:
        if value is None or not isfinite(value):
            unwrapped.append(None)
            continue
        if value < last:
            if range_uj is None or not range_uj > 0:
                return unwrapped, "range_unknown"
            if last - value > range_uj:
                return unwrapped, "counter_reset"
            added += range_uj
        last = value
        unwrapped.append(value + added)
    return unwrapped, None


def named_source(claimed: str | None, *, is_counter: bool) -> str:
    """The name of an energy's source: its family's, else which reading it is."""
    return claimed if claimed in NAMED_SOURCES else "counter" if is_counter else "integrated"


def _times(t_s: Values) -> list[float]:
    times: list[float] = []
    for index, at in enumerate(t_s):
        if at is None or not isfinite(at):
            raise ValueError(f"t_s[{index}] is missing: every sample needs a time")
        if times and at <= times[-1]:
            raise ValueError(f"t_s must rise strictly, got {times[-1]} then {at} at index {index}")
        times.append(at)
    return times


def _valid(readings: Values) -> list[float]:
    return [value for value in readings if value is not None and isfinite(value)]


def _counted(valid: list[float], reason: str | None, unit: float) -> CounterReading:
    if reason is None and len(valid) < 2:
        reason = "too_few_readings" if valid else "counter_unsupported"
    elif reason is None and valid[-1] == valid[0]:
        reason = "counter_stuck"
    return CounterReading(None, reason) if reason else CounterReading(float(valid[-1] - valid[0]) / unit)
