"""Reads run records and samples as they come from the field. Pure.

Ids and the time must be readable. Everything else is taken where it can be read, and is null with a warning where it
can't: a controller that is refused once never reports again.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from asyncenergy_controller.wire import ENERGY_SOURCES

from scheduling.errors import FieldRefused

EXITS = {"success": "success", "error": "error", "failed": "error", "preempted": "preempted"}
SOURCES = ENERGY_SOURCES | {"wall"}
ESTIMATES = ("estimat", "nameplate", "tdp")
ID_LENGTH = 120
LARGEST = 1e12
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
THROTTLE_NAMES = frozenset(
    {
        "none",
        "gpuidle",
        "applications_clocks",
        "sw_power_cap",
        "hw_slowdown",
        "sync_boost",
        "sw_thermal",
        "hw_thermal",
        "hw_power_brake",
        "display_clock",
    }
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What could be read: values by the name of their field, and what could not, in words."""

    values: dict[str, Any]
    warnings: list[str] = field(default_factory=list)


def instant_of(value: object) -> datetime | None:
    """Return an ISO 8601 time with an offset in UTC; None for anything else."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
        at = found.astimezone(UTC) if found is not None and found.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None
    return at if at is not None and at >= EARLIEST else None


def number_of(value: object) -> float | None:
    """Return a number that is not negative; a string or a boolean is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and 0 <= value <= LARGEST else None


def _text_of(length: int) -> Callable[[object], str | None]:
    def text(value: object) -> str | None:
        return value if isinstance(value, str) and 0 < len(value) <= length else None

    return text


def _count_of(value: object) -> int | None:
    found = number_of(value)
    return int(found) if found is not None and found == int(found) and found < 2**31 else None


OPTIONAL: dict[str, Callable[[object], Any]] = {
    "workflow_id": _text_of(64),
    "occurrence_id": _text_of(64),
    "fingerprint": _text_of(200),
    "framework": _text_of(40),
    "exit_status": lambda value: EXITS.get(value) if isinstance(value, str) else None,
    "work_units": number_of,
    "work_unit_kind": _text_of(40),
    "scheduled_start": instant_of,
    "actual_start": instant_of,
    "duration_s": number_of,
    "energy_wh": number_of,
    "energy_source": lambda value: value if isinstance(value, str) and value in SOURCES else None,
    "avg_w": number_of,
    "peak_w": number_of,
    "gpu_mem_mb": number_of,
    "schedule_version": _count_of,
}


def record_reading(record: object, place: str = "") -> Reading:
    """Read one run record; raises FieldRefused where its ids or its time can't be read."""
    if not isinstance(record, Mapping):
        raise FieldRefused(place, "unreadable", "A run record is an object.")
    values: dict[str, Any] = {}
    for name in ("controller_id", "run_id"):
        values[name] = _text_of(ID_LENGTH)(record.get(name))
        if values[name] is None:
            words = f"A text of 1 to {ID_LENGTH} characters is needed, not {record.get(name)!r:.60}."
            raise FieldRefused(_at(place, name), "required", words)
    values["ts"] = _time_needed(record, place)
    return _with_options(record, values)


def _at(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _time_needed(record: Mapping[str, Any], place: str) -> datetime:
    at = instant_of(record.get("ts"))
    if at is None:
        words = f"An ISO 8601 time with an offset is needed, not {record.get('ts')!r:.60}."
        raise FieldRefused(_at(place, "ts"), "no_instant", words)
    return at


def _with_options(record: Mapping[str, Any], values: dict[str, Any]) -> Reading:
    warnings: list[str] = []
    for name, read in OPTIONAL.items():
        given = record.get(name)
        values[name] = None if given is None else read(given)
        if given is not None and values[name] is None:
            warnings.append(f"{name}: {given!r:.60} can't be used and is stored as null")
    source = str(record.get("energy_source")).lower()
    if values["energy_wh"] is not None and any(word in source for word in ESTIMATES):
        values["energy_wh"] = None
        warnings.append("energy_wh: it was estimated, not measured, and is stored as null")
    return Reading(values, warnings)


def _reasons_of(value: object) -> str | None:
    """Names with commas, or a mask as 0x…; None for anything else."""
    if not isinstance(value, str):
        return None
    if value.lower().startswith("0x"):
        try:
            return f"{int(value, 16):#x}" if len(value) <= 18 else None
        except ValueError:
            return None
    names = [name.strip().lower() for name in value.split(",")]
    return ",".join(names) if THROTTLE_NAMES.issuperset(names) else None


def _temperature_of(value: object) -> float | None:
    """Degrees Celsius, which may be below 0 but not below absolute zero."""
    kelvin = number_of(value + 273.15) if isinstance(value, int | float) and not isinstance(value, bool) else None
    return None if kelvin is None else float(value)  # type: ignore[arg-type]  # a number


def _counter_of(value: object) -> float | None:
    """A counter of energy has no upper limit that is known here."""
    return float(value) if isinstance(value, int) and 0 <= value < 2**64 else number_of(value)


SAMPLE: dict[str, Callable[[object], Any]] = {
    "power_w": number_of,
    "util_gpu": number_of,
    "util_mem": number_of,
    "mem_used_mb": number_of,
    "temp_c": _temperature_of,
    "sm_clock_mhz": number_of,
    "throttle_reasons": _reasons_of,
    "cpu_rapl_uj": _counter_of,
}


def samples_reading(samples: list[Any]) -> tuple[dict[datetime, dict[str, Any]], list[str]]:
    """Return samples by their time, each time once, and what could not be read.

    A sample without a readable time can't be placed and is left out.
    """
    found: dict[datetime, dict[str, Any]] = {}
    odd: dict[str, int] = {}
    for sample in samples:
        at = instant_of(sample.get("ts")) if isinstance(sample, Mapping) else None
        if at is None:
            odd["ts"] = odd.get("ts", 0) + 1
        elif at not in found:
            found[at] = {name: _read(sample, name, odd) for name in SAMPLE}
    return found, [f"{name}: {count} could not be read" for name, count in sorted(odd.items())]


def _read(sample: Mapping[str, Any], name: str, odd: dict[str, int]) -> Any:
    given = sample.get(name)
    value = None if given is None else SAMPLE[name](given)
    if given is not None and value is None:
        odd[name] = odd.get(name, 0) + 1
    return value
