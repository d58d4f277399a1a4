"""Which of a trace's readings a run's energy is, by the same rules as everywhere."""

from collections.abc import Sequence
from dataclasses import dataclass

from asyncenergy_controller.meters.base import MeterInfo, Reading
from asyncenergy_controller.metrics.reasons import REASONS
from asyncenergy_controller.metrics.totals import (
    counter_energy_j,
    integrated_energy_j,
    named_source,
    wrapping_counter_energy_j,
)

JOULES_PER_WH = 3600.0
PACKAGE = ("cpu_package", None)
"""Boundaries in which the CPU's counter is the energy asked for: what a CPU drew never stands for what a GPU did."""


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
    counted = counter_energy_j(reading.gpu_energy_mj for reading in readings)
    if info.energy_boundary in PACKAGE and all(reading.gpu_energy_mj is None for reading in readings):
        counted = wrapping_counter_energy_j((reading.cpu_energy_uj for reading in readings), info.cpu_energy_range_uj)
    integrated = integrated_energy_j([reading.t_s for reading in readings], [r.gpu_power_w or None for r in readings])
    best = integrated if counted.joules is None else counted
    if best.joules is None:
        return Energy(None, reason=_why(info, [counted.reason, integrated.reason]))
    return Energy(best.joules, named_source(info.energy_source, is_counter=best is counted))


def _why(info: MeterInfo, codes: Sequence[str | None]) -> str:
    """The meter's own words first: they name what to do about it."""
    words = [*info.reasons.values(), *(REASONS[code] for code in codes if code)]
    return " ".join(dict.fromkeys(words))
