"""What the doctor tells of a meter: pace, cost, drift, aliasing, and the plug."""

import math

import pytest
from asyncenergy_controller import clock
from asyncenergy_controller.doctor.sensor import EDGE_S, AliasTest, pace, plug, window
from asyncenergy_controller.meters.base import MeterInfo, Reading
from asyncenergy_controller.meters.simulated import SimulatedMeter
from asyncenergy_controller.sampler import Trace

PERIOD_S = 0.1
BURST_S = 0.022


class VirtualGpu:
    """100 W, 500 W in bursts. Its counter moves every 100 ms; time passes when somebody sleeps or computes."""

    name = "virtual"

    def __init__(self, *, samples_power):
        self.t_s = 0.0
        self.bursts = []
        self.samples_power = samples_power

    def now_s(self):
        return self.t_s

    def sleep(self, seconds):
        self.t_s += max(0.0, seconds)

    def burst(self):
        self.bursts.append((self.t_s, self.t_s + BURST_S))
        self.t_s += BURST_S

    def read(self):
        self.t_s += 0.001
        ticks = int(self.t_s / PERIOD_S)
        return Reading(t_s=self.t_s, gpu_energy_mj=1000 * self.energy_j(ticks))

    def energy_j(self, ticks):
        """An honest counter integrates; one that samples takes the power at each tick for the whole of it."""
        ends_s = ticks * PERIOD_S
        if self.samples_power:
            return 100 * ends_s + 400 * PERIOD_S * sum(self.hits(start, end, ticks) for start, end in self.bursts)
        return 100 * ends_s + 400 * sum(max(0.0, min(end, ends_s) - start) for start, end in self.bursts)

    def hits(self, start_s, end_s, ticks):
        """How many of the first `ticks` ticks fall into a burst, which is shorter than their distance."""
        tick = math.ceil(start_s / PERIOD_S)
        return tick < ticks and tick * PERIOD_S < end_s

    def info(self):
        return MeterInfo(meter="virtual")

    def close(self):
        pass


def alias_test(gpu):
    return AliasTest(gpu, gpu.burst, PERIOD_S, 3.0, timer=gpu).run()


def test_a_counter_that_samples_reads_equal_bursts_by_their_phase():
    found = alias_test(VirtualGpu(samples_power=True))
    assert found.spread_pct > 50


def test_a_counter_that_integrates_does_not():
    found = alias_test(VirtualGpu(samples_power=False))
    assert found.spread_pct < 5
    assert found.at_other_period_w == pytest.approx(100 + 400 * BURST_S / (PERIOD_S * 1.07), rel=0.03)


def test_a_burst_longer_than_the_period_can_not_be_tested():
    gpu = VirtualGpu(samples_power=True)
    assert AliasTest(gpu, lambda: gpu.sleep(0.2), PERIOD_S, 3.0, timer=gpu).run() is None


def test_a_counter_that_never_moves_gives_no_verdict():
    gpu = VirtualGpu(samples_power=True)
    gpu.energy_j = lambda ticks: 5.0
    assert alias_test(gpu) is None


def test_the_pace_of_a_counter_is_found_and_a_steady_channel_has_none():
    found = pace(SimulatedMeter(), 0.9)
    assert found.counter_period_s == pytest.approx(0.1, abs=0.02)
    assert found.power_period_s is None  # moves with every reading: ours would be the pace
    assert found.cpu_period_s is None
    assert 0 < found.read_cost_s < 0.05


class SlowTool:
    """A new power every 100 ms by the tool's own loop, and nothing in between."""

    name = "slow tool"

    def __init__(self):
        self.shown = 0

    def read(self):
        t_s = clock.monotonic()
        is_new, self.shown = int(t_s / 0.1) != self.shown, int(t_s / 0.1)
        return Reading(t_s=t_s, gpu_power_w=100.0 + self.shown % 7 if is_new else None)


def test_the_pace_of_a_tool_is_not_taken_for_the_drivers():
    assert pace(SlowTool(), 0.9).power_period_s is None


def test_a_meter_too_slow_for_its_window_has_no_pace():
    found = pace(SlowTool(), 0.001)
    assert (found.counter_period_s, found.power_period_s) == (None, None)


def make_trace(*, counter_factor=1.0):
    readings = [
        Reading(t_s=i / 5, gpu_power_w=200.0, gpu_energy_mj=1000 * counter_factor * 200 * i / 5) for i in range(30)
    ]
    return Trace(tuple(readings), 0.0, 0.0)


def test_counter_and_power_are_compared_over_the_same_span():
    found = window(make_trace(), MeterInfo("nvml"))
    assert found.counter_j == pytest.approx(200 * (29 / 5 - 2 * EDGE_S))
    assert found.drift_pct == pytest.approx(0, abs=1e-9)
    assert window(make_trace(counter_factor=0.5), MeterInfo("nvml")).drift_pct == pytest.approx(100)


def test_a_cpu_is_described_by_its_own_counter():
    readings = tuple(Reading(t_s=i / 5, cpu_energy_uj=20e6 * i / 5) for i in range(30))
    info = MeterInfo("rapl", energy_boundary="cpu_package", cpu_energy_range_uj=2.6e11)
    assert window(Trace(readings, 0.0, 0.0), info).counter_j == pytest.approx(20 * (29 / 5 - 2 * EDGE_S))


def test_a_plug_is_described_by_its_steps_its_pace_and_its_lag():
    lag_s = 1.2
    readings = [
        Reading(
            t_s=i / 5,
            gpu_power_w=100.0 + 300 * (8 <= i / 5 < 16),
            wall_power_w=180.0 + 300 * (8 <= i / 5 - lag_s < 16) + (i % 2) / 2 if i % 2 == 0 or i % 5 == 0 else None,
        )
        for i in range(120)
    ]
    found = plug(readings)
    assert found.resolution_w == 0.5
    assert found.period_s == pytest.approx(0.4, abs=0.21)
    assert found.alignment.skew_s == pytest.approx(lag_s, abs=0.3)


def test_without_a_plug_there_is_nothing_to_describe():
    assert plug([Reading(t_s=0.0)]) is None
