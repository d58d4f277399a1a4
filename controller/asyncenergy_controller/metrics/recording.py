"""One version-3 run as arrays: columns converted once, the window of the items, the energy readings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .columns import Array, to_array, to_times
from .energy import Channel
from .totals import MAX_HOLE_S, CounterReading, counter_energy_j, unwrap_uj, wrapping_counter_energy_j

SMALLEST_OF_A_SENSOR = 1e-6
WALL_BIN_S = 10.0
POWER_COLUMNS = frozenset({"gpu_power_w", "gpu_power_instant_w", "wall_power_w"})


@dataclass(frozen=True, slots=True)
class Reading:
    """One way of measuring the recording: its channel, or why there is none."""

    channel: Channel | None
    reason: str | None
    is_counter: bool = False

    def between(self, start_s: float, end_s: float) -> tuple[float | None, str | None]:
        """Joules between two instants, or None and why."""
        if self.channel is None:
            return None, self.reason
        if not self.is_counter and self.channel.longest_gap_s(start_s, end_s) > MAX_HOLE_S:
            return None, "hole_over_30_s"
        energy_j = self.channel.between(start_s, end_s)
        if energy_j is None:
            sampled = self.channel.t_s[0] <= start_s and end_s <= self.channel.t_s[-1]
            return None, "hole_over_30_s" if sampled else "window_not_sampled"
        if self.is_counter and energy_j == 0 and end_s > start_s:
            return None, "counter_stuck"
        return energy_j, None


@dataclass(frozen=True)
class Recording:
    """A run's columns. Absent columns read as all missing; times are seconds, 0 = first sample."""

    run: Mapping[str, Any]
    t_s: Array
    n_items: int
    _columns: dict[str, Array] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Mapping[str, Any]) -> "Recording":
        """Raise ValueError for columns of different length, times that do not rise, an item that ends too early."""
        items: Mapping[str, Any] = run.get("items") or {}
        n_items = max((len(column) for column in items.values() if column is not None), default=0)
        times_s = (run.get("trace") or {}).get("t_s")
        recording = cls(run, to_times(() if times_s is None else times_s, "trace.t_s"), n_items)
        starts, ends = recording.item("t_start_s"), recording.item("t_end_s")
        if (ends < starts).any():
            at = int((ends < starts).argmax())
            raise ValueError(f"item {at} ends at {ends[at]} s, before it starts at {starts[at]} s")
        return recording

    def sample(self, name: str) -> Array:
        """A column of the trace."""
        return self._column("trace", name, self.t_s.size)

    def item(self, name: str) -> Array:
        """A column of the items."""
        return self._column("items", name, self.n_items)

    def _column(self, table: str, name: str, length: int) -> Array:
        key = f"{table}.{name}"
        if key not in self._columns:
            values = (self.run.get(table) or {}).get(name)
            column = np.full(length, np.nan) if values is None else to_array(values, key)
            if name in POWER_COLUMNS:  # nothing that runs draws 0 W: a zero is a reading that failed
                column = np.where(column == 0, np.nan, column)
            if column.size != length:
                raise ValueError(f"{key} has {column.size} values, the other columns of {table} have {length}")
            self._columns[key] = column
        return self._columns[key]

    @cached_property
    def window(self) -> tuple[float, float] | None:
        """First item start to last item end in s; None where an item has no times or the window has no length."""
        if self.n_items == 0:
            return None
        start_s, end_s = float(self.item("t_start_s").min()), float(self.item("t_end_s").max())
        return (start_s, end_s) if end_s > start_s else None

    @property
    def duration_s(self) -> float | None:
        """Length of the window."""
        return None if self.window is None else self.window[1] - self.window[0]

    def in_window(self, name: str) -> Array:
        """Valid samples of a trace column that lie in the window."""
        if self.window is None:
            return np.empty(0)
        start_s, end_s = self.window
        first, last = np.searchsorted(self.t_s, start_s), np.searchsorted(self.t_s, end_s, side="right")
        inside = self.sample(name)[first:last]
        return inside[~np.isnan(inside)]

    def sensor(self, name: str) -> float | None:
        """A number that the box gave of its own meters, None where it has none. Raises ValueError for anything else."""
        value = (self.run.get("sensor") or {}).get(name)
        if value is None or value == 0:
            return None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not SMALLEST_OF_A_SENSOR <= value < np.inf:
            raise ValueError(f"sensor.{name} must be a number over 0, got {value!r}")
        return float(value)

    @cached_property
    def integration(self) -> Reading:
        """Sampled power of the device."""
        return self._power("gpu_power_w", "power_unsupported")

    @cached_property
    def wall(self) -> Reading:
        """Sampled power of the wall meter."""
        return self._power("wall_power_w", "no_wall_meter")

    @cached_property
    def counter(self) -> Reading:
        """The device's energy counter; the package's own where the CPU package is what was measured."""
        readings_mj = self.sample("gpu_energy_mj")
        if self.run.get("energy_boundary") == "cpu_package" and np.isnan(readings_mj).all():
            return self.cpu_counter
        return self._counter(counter_energy_j(readings_mj.tolist()), readings_mj / 1e3)

    @cached_property
    def cpu_counter(self) -> Reading:
        """The CPU package's counter, wraps corrected."""
        range_uj, readings_uj = self.sensor("cpu_energy_range_uj"), self.sample("cpu_energy_uj").tolist()
        unwrapped, void = unwrap_uj(readings_uj, range_uj)
        if void:
            return Reading(None, void, is_counter=True)
        return self._counter(
            wrapping_counter_energy_j(readings_uj, range_uj), to_array(unwrapped, "cpu_energy_uj") / 1e6
        )

    @cached_property
    def best(self) -> Reading:
        """The reading that the published energy of the window comes from: the counter where it is valid."""
        if self.run.get("energy_boundary") == "wall":
            return self.wall
        if self.window is None or self.counter.between(*self.window)[0] is not None:
            return self.counter
        return self.integration

    @cached_property
    def wall_beside_device(self) -> tuple[Array, Array]:
        """Joules of the wall and of the device in each 10 s of the window that both cover."""
        wall, device = self.wall.channel, self.best.channel
        if wall is None or device is None or self.window is None:
            return np.empty(0), np.empty(0)
        start_s, end_s = self.window
        bins = max(1, int((end_s - start_s) // WALL_BIN_S))
        edges_s = np.append(start_s + WALL_BIN_S * np.arange(bins), end_s)
        wall_j, device_j = np.diff(wall.at(edges_s)), np.diff(device.at(edges_s))
        both = ~np.isnan(wall_j + device_j)
        return wall_j[both], device_j[both]

    def _counter(self, total: CounterReading, joules: Array) -> Reading:
        channel = None if total.reason else Channel.of_counter(self.t_s, joules)
        return Reading(channel, total.reason, is_counter=True)

    def _power(self, name: str, absent: str) -> Reading:
        column = self.sample(name)
        channel = Channel.of_power(self.t_s, column)
        missing = absent if np.isnan(column).all() else "too_few_samples"
        return Reading(channel, None if channel else missing)
