"""The sampler: a steady pace, both edges, every reading kept, no fault of a meter ends a run."""

import threading
import time
from dataclasses import fields

import pytest
from asyncenergy_controller import clock as clocks
from asyncenergy_controller.errors import MeterError, UsageError
from asyncenergy_controller.meters.base import MeterInfo, Reading
from asyncenergy_controller.meters.simulated import SimulatedMeter
from asyncenergy_controller.sampler import Sampler, Trace, next_deadline_s
from hypothesis import given, settings
from hypothesis import strategies as st

from .fakes_nvml import VirtualClock


class ScriptedMeter:
    """Gives what the test says, at the real time."""

    name = "scripted"

    def __init__(self, script=lambda: {"gpu_power_w": 100.0}):
        self.script = script
        self.threads = set()

    def info(self):
        return MeterInfo(meter=self.name)

    def read(self):
        self.threads.add(threading.current_thread().name)
        return Reading(t_s=clocks.monotonic(), **self.script())

    def close(self):
        pass


def trace_of(*readings):
    return Trace(readings, readings[0].t_s, 0.0)


@settings(max_examples=200)
@given(
    t0_s=st.floats(0, 1e7),
    period_s=st.floats(0.05, 10),
    passed_s=st.floats(0, 1e5),
)
def test_the_next_reading_is_the_first_point_of_the_grid_after_now(t0_s, period_s, passed_s):
    now_s = t0_s + passed_s
    deadline_s = next_deadline_s(t0_s, period_s, now_s)
    assert now_s < deadline_s <= now_s + period_s + 1e-6
    steps = (deadline_s - t0_s) / period_s
    assert steps == pytest.approx(round(steps), abs=1e-6)


class SlowMeter(ScriptedMeter):
    """Takes as long as the test says, on a virtual clock."""

    def __init__(self, clock, *costs_s):
        super().__init__()
        self.clock = clock
        self.costs_s = iter(costs_s)

    def read(self):
        reading = Reading(t_s=self.clock())
        self.clock.pass_s(next(self.costs_s, 0.03))
        return reading


class VirtualWait:
    """Stands for the event that ends the loop: waiting moves the clock."""

    def __init__(self, clock, rounds):
        self.clock = clock
        self.rounds = rounds

    def wait(self, seconds):
        self.clock.pass_s(max(seconds, 0))
        self.rounds -= 1
        return self.rounds < 0


@pytest.mark.parametrize(
    ("costs_s", "grid"),
    [((), [0, 1, 2, 3, 4, 5]), ((0.0, 0.19), [0, 1, 2, 3, 4, 5]), ((0.0, 0.0, 0.5), [0, 1, 2, 5, 6, 7])],
)
def test_slow_readings_skip_points_of_the_grid_and_never_shift_it(monkeypatch, costs_s, grid):
    clock = VirtualClock()
    sampler = Sampler(SlowMeter(clock, *costs_s), 0.2, clock=clock)
    monkeypatch.setattr(sampler, "_stopped", VirtualWait(clock, rounds=5))
    sampler.mark()
    sampler._loop()
    times = [reading.t_s - 1000 for reading in sampler._readings]
    assert times == pytest.approx([0.2 * point for point in grid])


def test_both_edges_are_covered_and_the_thread_ends():
    meter = ScriptedMeter()
    sampler = Sampler(meter, 5)
    threads = set(threading.enumerate())
    begun_s = clocks.monotonic()
    sampler.start()
    started_s = clocks.monotonic()
    time.sleep(0.05)
    stopping_s = clocks.monotonic()
    trace = sampler.stop()
    assert len(trace.readings) == 2
    assert begun_s <= trace.readings[0].t_s <= started_s
    assert trace.readings[-1].t_s >= stopping_s
    assert set(threading.enumerate()) <= threads


def test_the_steady_readings_come_from_the_background():
    meter = ScriptedMeter()
    with Sampler(meter, 0.05):
        time.sleep(0.2)
    assert "energy-sampler" in meter.threads


def test_a_mark_adds_a_reading_in_order():
    with Sampler(ScriptedMeter(), 5) as sampler:
        marked = sampler.mark()
    readings = sampler.stop().readings
    assert readings[1] is marked
    assert [r.t_s for r in readings] == sorted(r.t_s for r in readings)


def test_stopping_twice_gives_the_same_recording():
    sampler = Sampler(ScriptedMeter(), 5).start()
    assert sampler.stop() == sampler.stop()


def test_two_samplers_one_after_the_other_both_measure():
    meter = ScriptedMeter()
    for _ in range(2):
        with Sampler(meter, 0.05) as sampler:
            time.sleep(0.12)
        assert len(sampler.stop().readings) >= 3


@pytest.mark.parametrize("period_s", [0.049, 0, -1, float("nan")])
def test_a_period_below_50_ms_is_refused(period_s):
    with pytest.raises(UsageError, match=r"at least 0\.05 s"):
        Sampler(ScriptedMeter(), period_s)


@pytest.mark.parametrize("error", [MeterError("the plug is gone"), OSError("I/O error"), ValueError("bad frame")])
def test_a_failing_meter_gives_empty_readings_and_the_reason(error):
    answers = iter([{"gpu_power_w": 100.0}, error])

    def script():
        answer = next(answers, {"gpu_power_w": 200.0})
        if isinstance(answer, Exception):
            raise answer
        return answer

    sampler = Sampler(ScriptedMeter(script), 5).start()
    sampler.mark()
    trace = sampler.stop()
    assert [reading.gpu_power_w for reading in trace.readings] == [100, None, 200]
    assert str(error) in trace.reasons["meter"]


def test_a_meter_that_no_longer_says_what_it_measures_ends_nothing():
    class Gone(ScriptedMeter):
        def info(self):
            raise MeterError("the meter's process has ended")

        def read(self):
            raise MeterError("the meter's process has ended")

    with Sampler(Gone(), 5) as sampler:
        assert sampler.energy_so_far_j() is None
    assert sampler.stop().reasons == {"meter": "MeterError: the meter's process has ended"}


def test_every_reading_reaches_the_sink():
    kept: list[Reading] = []
    with Sampler(ScriptedMeter(), 0.05, sink=kept.append) as sampler:
        time.sleep(0.12)
    assert tuple(kept) == sampler.stop().readings


def test_a_full_disk_ends_nothing():
    def full(reading):
        raise OSError(28, "No space left on device")

    with Sampler(ScriptedMeter(), 0.05, sink=full) as sampler:
        time.sleep(0.12)
    trace = sampler.stop()
    assert len(trace.readings) >= 3
    assert "No space left" in trace.reasons["sink"]


def test_the_latest_reading_and_the_energy_so_far_are_there_while_it_runs():
    sampler = Sampler(SimulatedMeter(), 0.05)
    assert sampler.latest is None
    with sampler:
        time.sleep(0.5)
        assert sampler.latest is not None
        assert sampler.energy_so_far_j() == pytest.approx(20, rel=0.8)


def test_the_energy_so_far_is_none_where_nothing_is_measured():
    with Sampler(ScriptedMeter(dict), 0.05) as sampler:
        time.sleep(0.12)
        assert sampler.energy_so_far_j() is None


@pytest.mark.parametrize(
    ("channel", "values", "joules"),
    [
        ("gpu_energy_mj", [5e9, 5e9 + 7000], 7),
        ("cpu_energy_uj", [9e6, 11e6], 2),
    ],
)
def test_the_energy_so_far_is_the_counters_difference(channel, values, joules):
    series = iter(values)
    with Sampler(ScriptedMeter(lambda: {channel: next(series, None)}), 5) as sampler:
        sampler.mark()
        assert sampler.energy_so_far_j() == pytest.approx(joules)


def test_the_cost_of_a_tick_is_measured():
    def slow():
        time.sleep(0.01)
        return {}

    trace = Sampler(ScriptedMeter(slow), 5).start().stop()
    assert 0.01 <= trace.tick_cost_s < 0.1


def test_a_trace_starts_at_zero_and_hides_the_raw_counters():
    columns = trace_of(
        Reading(t_s=500.0, gpu_power_w=80.0, power_field="average", gpu_energy_mj=9e9, cpu_energy_uj=4e6),
        Reading(t_s=500.2, gpu_power_w=80.0, power_field="average", gpu_energy_mj=9e9 + 16_000, cpu_energy_uj=4.5e6),
    ).columns()
    assert columns["t_s"] == [0, pytest.approx(0.2)]
    assert columns["gpu_energy_mj"] == [0, 16_000]
    assert columns["cpu_energy_uj"] == [0, 5e5]
    assert columns["gpu_power_w"] == [80, 80]
    assert columns["power_field"] == "average"
    assert "wall_power_w" not in columns


def test_a_reset_stays_visible_without_a_negative_energy():
    readings = [Reading(t_s=float(t), gpu_energy_mj=mj) for t, mj in enumerate((10e6, 12e6, 3e6))]
    assert trace_of(*readings).columns()["gpu_energy_mj"] == [7e6, 9e6, 0]


def test_readings_at_one_instant_are_one_sample():
    readings = [Reading(t_s=t, gpu_power_w=w) for t, w in ((1.0, 1.0), (1.0, 2.0), (2.0, 3.0))]
    assert trace_of(*readings).columns()["t_s"] == [0, 1]


def test_missing_values_stay_missing():
    readings = [Reading(t_s=1.0, gpu_power_w=5.0), Reading(t_s=2.0)]
    assert trace_of(*readings).columns()["gpu_power_w"] == [5, None]


@pytest.mark.parametrize("answer", [float("nan"), float("inf"), float("-inf")])
def test_whatever_a_meter_answers_no_sample_is_anything_but_a_number_or_missing(answer):
    numbers = [channel.name for channel in fields(Reading) if channel.name not in ("t_s", "power_field")]
    reading = Reading(t_s=1.0, **dict.fromkeys(numbers, answer))
    assert [getattr(reading, name) for name in numbers] == [None] * len(numbers)
    assert Trace((reading, Reading(t_s=2.0, gpu_power_w=5.0)), 1.0, 0.0).columns()["gpu_power_w"] == [None, 5.0]
