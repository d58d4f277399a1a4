"""How well a meter measures: what its readings say about its own pace, cost and truth."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Protocol

from asyncenergy_controller import clock, metrics
from asyncenergy_controller.meters.align import Alignment, align_wall
from asyncenergy_controller.meters.base import Meter, MeterInfo, Reading
from asyncenergy_controller.meters.period import update_period_s
from asyncenergy_controller.sampler import Sampler, Trace

FAST_PAUSE_S = 0.002
EDGE_S = 0.4
TIMES_FASTER = 3


@dataclass(frozen=True)
class Pace:
    """How often the channels move, and what a reading costs, in seconds. None: the channel did not move enough."""

    read_cost_s: float
    counter_period_s: float | None
    power_period_s: float | None
    cpu_period_s: float | None


def pace(meter: Meter, seconds: float) -> Pace:
    """Read as fast as the meter answers for so long."""
    readings, costs_s = [], []
    end_s = clock.monotonic() + seconds
    while clock.monotonic() < end_s:
        begun_s = time.perf_counter()
        readings.append(meter.read())
        costs_s.append(time.perf_counter() - begun_s)
        time.sleep(FAST_PAUSE_S)
    counter, power, cpu = (_period(readings, name) for name in ("gpu_energy_mj", "gpu_power_w", "cpu_energy_uj"))
    return Pace(median(costs_s), counter, power, cpu)


def _period(readings: Sequence[Reading], channel: str) -> float | None:
    """None where the channel moves about as fast as it is read: then the reading's own pace would come out."""
    told = [reading for reading in readings if getattr(reading, channel) is not None]
    times_s = [reading.t_s for reading in told]
    period_s = update_period_s(times_s, [getattr(reading, channel) for reading in told])
    if period_s is None:
        return None
    read_s = median(after - before for before, after in pairwise(times_s))
    return period_s if period_s >= TIMES_FASTER * read_s else None


def record(meter: Meter, seconds: float, period_s: float) -> Trace:
    """Sample for so long, and a little more on both sides for the edges."""
    with Sampler(meter, period_s) as sampler:
        time.sleep(seconds + 2 * EDGE_S)
        return sampler.stop()


@dataclass(frozen=True)
class Window:
    """One recorded window by its two readings; drift in % of the counter."""

    counter_j: float | None
    integrated_j: float | None
    drift_pct: float | None
    mean_w: float | None


def window(trace: Trace, info: MeterInfo) -> Window:
    """Counter and integration over the same span, inside the recording."""
    columns = trace.columns()
    items = {"t_start_s": [EDGE_S], "t_end_s": [columns["t_s"][-1] - EDGE_S], "correct": [0.0]}
    metered = {"energy_boundary": info.energy_boundary, "sensor": {"cpu_energy_range_uj": info.cpu_energy_range_uj}}
    figures = metrics.recompute_run({"items": items, "trace": columns, **metered})
    return Window(
        figures.total_joules_gpu_counter,
        figures.total_joules_gpu,
        figures.counter_vs_integration_pct_diff,
        figures.mean_gpu_w,
    )


@dataclass(frozen=True)
class Plug:
    """How finely and how late the wall plug answers."""

    resolution_w: float | None
    period_s: float | None
    alignment: Alignment


def plug(readings: Sequence[Reading]) -> Plug | None:
    """None where no plug was read. The lag shows only where the load changed within the readings."""
    answered = [(reading.t_s, reading.wall_power_w) for reading in readings if reading.wall_power_w is not None]
    if not answered:
        return None
    values = [watts for _, watts in answered]
    steps = [abs(after - before) for before, after in pairwise(values) if after != before]
    gaps = [after - before for (before, _), (after, _) in pairwise(answered)]
    alignment = align_wall(
        [reading.t_s for reading in readings],
        [reading.gpu_power_w for reading in readings],
        [reading.wall_power_w for reading in readings],
    )
    return Plug(min(steps, default=None), median(gaps) if gaps else None, alignment)


ALIAS_PHASES = 4
SETTLING_MOVES = 2
INCOMMENSURATE = 1.07


@dataclass(frozen=True)
class Aliasing:
    """Mean power by the counter, of equal bursts: at its own period by phase, and at an incommensurate period."""

    at_own_period_w: tuple[float, ...]
    at_other_period_w: float
    burst_s: float

    @property
    def spread_pct(self) -> float:
        """How far phase alone moves the reading."""
        return 100 * (max(self.at_own_period_w) - min(self.at_own_period_w)) / self.at_other_period_w


class Timer(Protocol):
    """The clock that bursts are timed by; tests have a virtual one."""

    def now_s(self) -> float: ...
    def sleep(self, seconds: float) -> None: ...


class RealTimer:
    def now_s(self) -> float:
        return clock.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


@dataclass(frozen=True)
class AliasTest:
    """Repeats one burst of load on a grid and reads what the counter makes of it."""

    meter: Meter
    burst: Callable[[], object]
    period_s: float
    seconds: float
    timer: Timer = field(default_factory=RealTimer)

    def run(self) -> Aliasing | None:
        """None where a burst lasts longer than the grid, or the counter moved too seldom meanwhile."""
        burst_s = median(self._took_s() for _ in range(3))
        if burst_s > 0.8 * self.period_s:
            return None
        own = [self._mean_w(self.period_s, phase / ALIAS_PHASES) for phase in range(ALIAS_PHASES)]
        other = self._mean_w(self.period_s * INCOMMENSURATE, 0.0)
        known = [watts for watts in own if watts is not None]
        return Aliasing(tuple(known), other, burst_s) if other and len(known) == len(own) else None

    def _took_s(self) -> float:
        begun_s = self.timer.now_s()
        self.burst()
        return self.timer.now_s() - begun_s

    def _mean_w(self, grid_s: float, phase: float) -> float | None:
        """The grid starts where the counter has just moved, so that the phase is the counter's."""
        readings = self._read_until(self.timer.now_s() + 10 * grid_s, or_it_moves=True)
        start_s = readings[-1].t_s + phase * grid_s
        for step in range(max(1, round(self.seconds / grid_s))):
            readings += self._read_until(start_s + step * grid_s)
            self.burst()
        return _watts_between_moves(readings)

    def _read_until(self, end_s: float, *, or_it_moves: bool = False) -> list[Reading]:
        readings = [self.meter.read()]
        while readings[-1].t_s < end_s:
            if or_it_moves and readings[-1].gpu_energy_mj != readings[0].gpu_energy_mj:
                break
            self.timer.sleep(FAST_PAUSE_S)
            readings.append(self.meter.read())
        return readings


def _watts_between_moves(readings: Sequence[Reading]) -> float | None:
    """Mean power between two moves of the counter, the first ones left out."""
    known = [(reading.t_s, reading.gpu_energy_mj) for reading in readings if reading.gpu_energy_mj is not None]
    moves = [after for before, after in pairwise(known) if after[1] != before[1]][SETTLING_MOVES:]
    if len(moves) < SETTLING_MOVES:
        return None
    (begun_s, first_mj), (ended_s, last_mj) = moves[0], moves[-1]
    return (last_mj - first_mj) / 1000 / (ended_s - begun_s)
