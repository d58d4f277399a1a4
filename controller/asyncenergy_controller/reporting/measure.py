"""Measure a stretch of work: a reading a second from before its first moment to after its last."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from asyncenergy_controller import clock
from asyncenergy_controller.meters.base import Meter, MeterInfo, Reading
from asyncenergy_controller.meters.energy import JOULES_PER_WH, energy_of
from asyncenergy_controller.reporting.records import RunRecord, Sample, megabytes, samples_of
from asyncenergy_controller.sampler import Sampler, Trace, strictly_rising

PERIOD_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What was measured of one stretch of work. Without an energy, `reason` says why."""

    energy_wh: float | None
    energy_source: str | None
    reason: str | None
    avg_w: float | None
    peak_w: float | None
    gpu_mem_mb: float | None
    """The most that was in use, in MB."""
    duration_s: float
    samples: tuple[Sample, ...]

    def onto(self, record: RunRecord) -> RunRecord:
        """The record with what was measured."""
        return replace(
            record,
            duration_s=self.duration_s,
            energy_wh=self.energy_wh,
            energy_source=self.energy_source,
            avg_w=self.avg_w,
            peak_w=self.peak_w,
            gpu_mem_mb=self.gpu_mem_mb,
        )


class Measuring:
    """A measurement under way; `measurement` is there when its block has ended."""

    def __init__(self, meter: Meter, period_s: float = PERIOD_S) -> None:
        self._meter = meter
        self._began_at: datetime = clock.now()
        self._sampler = Sampler(meter, period_s).start()
        self._measurement: Measurement | None = None

    @property
    def measurement(self) -> Measurement:
        """What was measured. Raises RuntimeError while the block still runs."""
        if self._measurement is None:
            raise RuntimeError("the measurement is there when its `with` block has ended")
        return self._measurement

    def energy_so_far_wh(self) -> float | None:
        """The energy until now, None where it can't be measured."""
        joules = self._sampler.energy_so_far_j()
        return None if joules is None else joules / JOULES_PER_WH

    def stop(self) -> Measurement:
        """Take the last reading and work everything out; done once, however often it is asked."""
        if self._measurement is None:
            trace = self._sampler.stop()
            self._measurement = measurement_of(trace, self._meter.info(), self._began_at, factor=clock.factor())
        return self._measurement


@contextmanager
def measured(meter: Meter, period_s: float = PERIOD_S) -> Iterator[Measuring]:
    """Measure what happens in the block, also where it ends with an error. The meter stays open."""
    measuring = Measuring(meter, period_s)
    try:
        yield measuring
    finally:
        measuring.stop()


def measurement_of(trace: Trace, info: MeterInfo, began_at: datetime, *, factor: float = 1.0) -> Measurement:
    """Work out a whole trace whose first reading was taken at the time of day `began_at`."""
    readings = strictly_rising(trace.readings)
    energy = energy_of(readings, replace(info, reasons=info.reasons | trace.reasons))
    duration_s = readings[-1].t_s - readings[0].t_s
    in_use_mib = [reading.gpu_mem_used_mib for reading in readings if reading.gpu_mem_used_mib is not None]
    samples = samples_of(readings, began_at, cpu_range_uj=info.cpu_energy_range_uj, factor=factor)
    return Measurement(
        energy_wh=energy.wh,
        energy_source=energy.source,
        reason=energy.reason,
        avg_w=energy.joules / duration_s if energy.joules is not None and duration_s > 0 else None,
        peak_w=_peak_w(readings),
        gpu_mem_mb=megabytes(max(in_use_mib, default=None)),
        duration_s=duration_s,
        samples=tuple(samples),
    )


def _peak_w(readings: list[Reading]) -> float | None:
    """The instant field is there for peaks; without it the highest of the power that is integrated."""
    instant = [reading.gpu_power_instant_w for reading in readings if reading.gpu_power_instant_w is not None]
    average = [reading.gpu_power_w for reading in readings if reading.gpu_power_w is not None]
    return max(instant or average, default=None)
