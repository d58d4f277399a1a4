"""What is reported of a run: its record, its samples, and what is said of its placement. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Any, Literal, TypedDict

from asyncenergy_controller.meters.base import Reading
from asyncenergy_controller.metrics.throttling import throttle_words
from asyncenergy_controller.metrics.totals import unwrap_uj

ExitStatus = Literal["success", "error", "preempted"]
Event = Literal["started", "finished", "failed"]
MB_PER_MIB = 2**20 / 1e6


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRecord:
    """One run. None is what is not known; an energy of None was not measured."""

    controller_id: str
    run_id: str
    """Names the run at this controller, so that it is stored once however often it is sent."""
    ts: datetime
    """When it ended."""
    workflow_id: str | None = None
    occurrence_id: str | None = None
    schedule_version: int | None = None
    fingerprint: str | None = None
    framework: str | None = None
    exit_status: ExitStatus | None = None
    work_units: float | None = None
    work_unit_kind: str | None = None
    scheduled_start: datetime | None = None
    actual_start: datetime | None = None
    duration_s: float | None = None
    energy_wh: float | None = None
    energy_source: str | None = None
    avg_w: float | None = None
    peak_w: float | None = None
    gpu_mem_mb: float | None = None

    def as_json(self) -> dict[str, Any]:
        """As it is sent: times in UTC, nothing that is None or no finite number."""
        return _plain(asdict(self))


class Sample(TypedDict):
    """One second of a run, as it is sent."""

    ts: str
    power_w: float | None
    util_gpu: float | None
    util_mem: float | None
    mem_used_mb: float | None
    temp_c: float | None
    sm_clock_mhz: float | None
    throttle_reasons: str | None
    cpu_rapl_uj: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Ack:
    """What became of a placement, or of the run that it is for."""

    schedule_version: int
    event: Event
    workflow_id: str
    at: datetime
    occurrence_id: str | None = None
    controller_id: str | None = None

    def as_json(self) -> dict[str, Any]:
        """As it is sent."""
        return _plain(asdict(self))


def samples_of(
    readings: Sequence[Reading], began_at: datetime, *, cpu_range_uj: float | None = None, factor: float = 1.0
) -> list[Sample]:
    """Readings as they are sent. `began_at` is the time of day of the first one; the others follow by their own clock,
    which no change of the time of day disturbs. `factor` is how much faster the time of day runs.

    The CPU's counter is counted from the first reading, wraps corrected; it is None where that can't be done.
    """
    cpu_uj = _rebased_uj(readings, cpu_range_uj)
    return [
        _sample(reading, began_at + timedelta(seconds=factor * (reading.t_s - readings[0].t_s)), counter_uj)
        for reading, counter_uj in zip(readings, cpu_uj, strict=True)
    ]


def megabytes(mebibytes: float | None) -> float | None:
    return None if mebibytes is None else mebibytes * MB_PER_MIB


def _sample(reading: Reading, at: datetime, cpu_uj: float | None) -> Sample:
    return Sample(
        ts=at.astimezone(UTC).isoformat(timespec="milliseconds"),
        power_w=reading.gpu_power_w,
        util_gpu=reading.gpu_util_pct,
        util_mem=reading.gpu_mem_util_pct,
        mem_used_mb=megabytes(reading.gpu_mem_used_mib),
        temp_c=reading.gpu_temp_c,
        sm_clock_mhz=reading.sm_clock_mhz,
        throttle_reasons=None if reading.throttle_mask is None else throttle_words(reading.throttle_mask),
        cpu_rapl_uj=cpu_uj,
    )


def _rebased_uj(readings: Sequence[Reading], range_uj: float | None) -> list[float | None]:
    """A raw counter tells one machine from all others."""
    unwrapped, void = unwrap_uj([reading.cpu_energy_uj for reading in readings], range_uj)
    if void:
        return [None] * len(readings)
    first_uj = next((value for value in unwrapped if value is not None), 0.0)
    return [None if value is None else value - first_uj for value in unwrapped]


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in values.items() if value is not None and _is_finite(value)}
    return {name: _text(value) if isinstance(value, datetime) else value for name, value in known.items()}


def _is_finite(value: object) -> bool:
    return not isinstance(value, float) or isfinite(value)


def _text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")
