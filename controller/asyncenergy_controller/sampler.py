"""Read a meter at a steady pace in the background, from before the first moment to after the last."""

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from types import TracebackType
from typing import Any, Self

from asyncenergy_controller.clock import monotonic
from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.meters.base import Meter, MeterInfo, Reading
from asyncenergy_controller.meters.energy import energy_of

MIN_PERIOD_S = 0.05
"""Faster polling has returned zeros and errors from drivers."""
COUNTER_REST_S = 0.1
"""A slow counter that was read a moment ago is not read again before this."""
SOURCE_CHANNELS = {"counter": "gpu_energy_mj", "integrated": "gpu_power_w"}
CHANNELS = (
    "gpu_power_w",
    "gpu_power_instant_w",
    "gpu_util_pct",
    "gpu_mem_used_mib",
    "gpu_temp_c",
    "sm_clock_mhz",
    "throttle_mask",
    "other_processes",
    "wall_power_w",
)
COUNTERS = ("gpu_energy_mj", "cpu_energy_uj")


@dataclass(frozen=True, slots=True)
class Trace:
    """All readings of one recording, in the order of time."""

    readings: tuple[Reading, ...]
    t0_s: float
    """`clock.monotonic()` of the first reading."""
    tick_cost_s: float
    """Mean processor and waiting time that one reading took."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Why whole readings are empty, where the meter failed altogether."""

    def columns(self) -> dict[str, Any]:
        """Return the trace as it stands in a bundle: relative time, counters rebased, no column without a value."""
        readings = strictly_rising(self.readings)
        columns: dict[str, Any] = {"t_s": [reading.t_s - self.t0_s for reading in readings]}
        columns |= {name: [getattr(reading, name) for reading in readings] for name in CHANNELS}
        columns |= {name: _rebased([getattr(reading, name) for reading in readings]) for name in COUNTERS}
        power_field = next((reading.power_field for reading in readings if reading.power_field), None)
        measured = {name: column for name, column in columns.items() if any(value is not None for value in column)}
        return measured | ({"power_field": power_field} if power_field else {})


class Sampler:
    """A background thread that reads `meter` every `period_s`, on a grid that does not drift.

    `start` and `stop` read once themselves, so both edges are covered; `mark` reads once in between. A meter that
    fails gives an empty reading with a reason, never an end to the run. `sink` gets every reading as it comes.
    """

    def __init__(
        self,
        meter: Meter,
        period_s: float = 0.2,
        *,
        sink: Callable[[Reading], None] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        if not period_s >= MIN_PERIOD_S:
            raise UsageError(f"the sampling period is {period_s} s: it must be at least {MIN_PERIOD_S} s")
        self._meter = meter
        self._period_s = period_s
        self._sink = sink
        self._clock = clock
        self._readings: list[Reading] = []
        self._costs_s: list[float] = []
        self._reasons: dict[str, str] = {}
        self._one_at_a_time = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="energy-sampler", daemon=True)

    def start(self) -> Self:
        """Take the first reading, with the energy where the meter has one, and go on in the background."""
        if self._lacks_its_source(self.mark()):
            time.sleep(COUNTER_REST_S)  # what was measured just before has used the value up
            self._readings.clear()
            self.mark()
        self._thread.start()
        return self

    def mark(self) -> Reading:
        """Take one reading now, beside the steady ones."""
        with self._one_at_a_time:
            begun_s = time.perf_counter()
            reading = self._read()
            self._readings.append(reading)
            self._costs_s.append(time.perf_counter() - begun_s)
            self._hand_on(reading)
        return reading

    def stop(self) -> Trace:
        """End the thread, take the last reading, with the counter where there is one, and return everything read."""
        if not self._stopped.is_set():
            self._stopped.set()
            self._thread.join()
            if self.mark().gpu_energy_mj is None and self._has_counter():
                time.sleep(COUNTER_REST_S)
                self.mark()
        return Trace(tuple(self._readings), self._readings[0].t_s, fmean(self._costs_s), dict(self._reasons))

    def _lacks_its_source(self, reading: Reading) -> bool:
        info = self._info()
        channel = SOURCE_CHANNELS.get(info.energy_source or "") if info else None
        return channel is not None and getattr(reading, channel) is None

    def _has_counter(self) -> bool:
        return any(reading.gpu_energy_mj is not None for reading in reversed(self._readings))

    @property
    def latest(self) -> Reading | None:
        return self._readings[-1] if self._readings else None

    def energy_so_far_j(self) -> float | None:
        """Return the energy since the start by the best channel there is, None where none gives one."""
        with self._one_at_a_time:
            info = self._info()
        return energy_of(strictly_rising(self._readings[:]), info).joules if info else None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def _loop(self) -> None:
        t0_s = deadline_s = self._readings[0].t_s
        while True:
            deadline_s = next_deadline_s(t0_s, self._period_s, max(deadline_s, self._clock()))
            if self._stopped.wait(deadline_s - self._clock()):
                return
            self.mark()

    def _read(self) -> Reading:
        try:
            return self._meter.read()
        except Exception as error:  # noqa: BLE001 - a run outlives any fault of a meter, which is recorded
            self._reasons["meter"] = f"{type(error).__name__}: {error}"
            return Reading(t_s=self._clock())

    def _info(self) -> MeterInfo | None:
        try:
            return self._meter.info()
        except Exception as error:  # noqa: BLE001 - as for a reading
            self._reasons["meter"] = f"{type(error).__name__}: {error}"
            return None

    def _hand_on(self, reading: Reading) -> None:
        """A full disk must not end the sampling: the readings are still in memory."""
        try:
            if self._sink is not None:
                self._sink(reading)
        except OSError as error:
            self._reasons["sink"] = f"readings could not be written as they came: {error}"


def next_deadline_s(t0_s: float, period_s: float, now_s: float) -> float:
    """Return the first point of the grid t0 + k·period that lies after now; missed points are left out."""
    deadline_s = t0_s + (math.floor((now_s - t0_s) / period_s) + 1) * period_s
    return deadline_s if deadline_s > now_s else deadline_s + period_s


def strictly_rising(readings: Sequence[Reading]) -> list[Reading]:
    """Leave out readings that a coarse clock puts at the same instant as the one before."""
    kept: list[Reading] = []
    for reading in readings:
        if not kept or reading.t_s > kept[-1].t_s:
            kept.append(reading)
    return kept


def _rebased(counter: list[float | None]) -> list[float | None]:
    """Count from the lowest reading: the first one, unless the counter was reset, which stays visible."""
    lowest = min((value for value in counter if value is not None), default=0)
    return [None if value is None else value - lowest for value in counter]
