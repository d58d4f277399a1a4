"""Which of a trace's readings a run's energy is, by the same rules as everywhere."""

from collections.abc import Sequence
from dataclasses import dataclass

from asyncenergy_controller.meters.base import MeterInfo, Reading
from asyncenergy_controller.metrics.reasons import REASONS
from asyncenergy_controller.metrics.totals import (
    CounterReading,
    counter_energy_j,
    integrated_energy_j,
    named_source,
    wrapping_counter_energy_j,
)

JOULES_PER_WH = 3600.0
PACKAGE = ("cpu_package", None)
"""Boundaries in which the CPU's counter is the energy asked for: what a CPU drew never stands for what a GPU did."""

EDGE_S = 0.3
"""As near to both ends of a trace a reading must come: one that began later or ended sooner missed a part of it."""


@dataclass(frozen=True, slots=True)
class Energy:
    """Joules and where they come from; without joules the reason, in words."""

    joules: float | None
    source: str | None = None
    reason: str | None = None

    @property
    def wh(self) -> float | None:
        return None if self.joules is None else self.joules / JOULES_PER_WH


def energy_of(readings: Sequence[Reading], info: MeterInfo) -> Energy:
    """The counter where it is valid, else the integral of the average power; the package's own for a CPU."""
    counter_mj = [reading.gpu_energy_mj for reading in readings]
    counted = _covering(readings, counter_mj, counter_energy_j(counter_mj))
    if info.energy_boundary in PACKAGE and all(value is None for value in counter_mj):
        cpu_uj = [reading.cpu_energy_uj for reading in readings]
        counted = _covering(readings, cpu_uj, wrapping_counter_energy_j(cpu_uj, info.cpu_energy_range_uj))
    power_w = [reading.gpu_power_w or None for reading in readings]
    integrated = integrated_energy_j([reading.t_s for reading in readings], power_w)
    integrated = _covering(readings, power_w, integrated)
    best = integrated if counted.joules is None else counted
    if best.joules is None:
        return Energy(None, reason=_why(info, [counted.reason, integrated.reason]))
    return Energy(best.joules, named_source(info.energy_source, is_counter=best is counted))


def _covering(readings: Sequence[Reading], values: Sequence[float | None], total: CounterReading) -> CounterReading:
    """The total, void where its values leave out more than an edge of the readings' time."""
    if total.joules is None:
        return total
    times_s = [reading.t_s for reading, value in zip(readings, values, strict=True) if value is not None]
    missed_s = max(times_s[0] - readings[0].t_s, readings[-1].t_s - times_s[-1])
    return total if missed_s <= EDGE_S else CounterReading(None, "window_not_sampled")


def _why(info: MeterInfo, codes: Sequence[str | None]) -> str:
    """The meter's own words first: they name what to do about it."""
    words = [*info.reasons.values(), *(REASONS[code] for code in codes if code)]
    return " ".join(dict.fromkeys(words))
