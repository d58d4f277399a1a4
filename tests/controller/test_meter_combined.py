"""A GPU with what is measured beside it: the CPU in the same moment, the wall at its own pace."""

import threading
import time
from itertools import pairwise

import pytest
from asyncenergy_controller.errors import MeterError
from asyncenergy_controller.meters import combined
from asyncenergy_controller.meters.base import MeterInfo, Reading
from asyncenergy_controller.meters.combined import CombinedMeter
from asyncenergy_controller.meters.simulated import SimulatedMeter
from asyncenergy_controller.sampler import Sampler

from .fakes_nvml import VirtualClock


class Cpu:
    name = "rapl"

    def info(self):
        return MeterInfo(
            meter="rapl", cpu_energy_range_uj=1e9, reasons={"cpu_energy_uj": "late", "gpu_power_w": "none"}
        )

    def read(self):
        return Reading(t_s=0.0, cpu_energy_uj=77.0)

    def close(self):
        pass


class Wall:
    """Answers after `slow_s`, one value after the other; an exception is raised."""

    name = "shelly"

    def __init__(self, *answers, slow_s=0.0):
        self.answers = list(answers)
        self.slow_s = slow_s
        self.closed = False

    def read_w(self):
        time.sleep(self.slow_s)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self):
        self.closed = True


@pytest.fixture
def combine():
    made = []

    def make(**parts):
        made.append(CombinedMeter(SimulatedMeter(), **parts))
        return made[-1]

    yield make
    for meter in made:
        meter.close()


def until(condition, limit_s=3.0):
    end_s = time.monotonic() + limit_s
    while not (value := condition()) and time.monotonic() < end_s:
        time.sleep(0.01)
    return value


def test_the_cpu_counter_stands_in_the_same_reading(combine):
    meter = combine(cpu=Cpu())
    reading = meter.read()
    assert reading.cpu_energy_uj == 77
    assert reading.gpu_power_w > 0
    info = meter.info()
    assert (info.meter, info.energy_source, info.cpu_energy_range_uj) == ("simulated+rapl", "simulated", 1e9)
    assert info.reasons["cpu_energy_uj"] == "late"
    assert "gpu_power_w" not in info.reasons


def test_a_slow_plug_delays_no_gpu_reading(combine):
    wall = Wall(300.0, slow_s=0.6)
    meter = combine(wall=wall, wall_period_s=0.05)
    with Sampler(meter, 0.05) as sampler:
        time.sleep(1.0)
    trace = sampler.stop()
    gaps = [after.t_s - before.t_s for before, after in pairwise(trace.readings)]
    assert len(trace.readings) >= 10
    assert max(gaps) < 0.5
    assert trace.tick_cost_s < 0.1
    assert 1 <= sum(reading.wall_power_w is not None for reading in trace.readings) <= 2
    assert trace.columns()["wall_power_w"].count(300.0) >= 1


def test_each_answer_of_the_plug_is_handed_on_once(combine):
    meter = combine(wall=Wall(300.0), wall_period_s=30)
    assert until(lambda: meter.read().wall_power_w) == 300
    assert meter.read().wall_power_w is None


@pytest.mark.parametrize(("waited_s", "watts"), [(1, 300.0), (60, None)])
def test_an_answer_that_nobody_read_for_long_is_not_the_power_now(combine, monkeypatch, waited_s, watts):
    clock = VirtualClock()
    monkeypatch.setattr(combined, "monotonic", clock)
    meter = combine(wall=Wall(300.0, MeterError("gone")), wall_period_s=0.01)
    assert until(lambda: meter.info().reasons.get("wall_power_w")) == "gone"
    clock.pass_s(waited_s)
    assert meter.read().wall_power_w == watts


@pytest.mark.parametrize("error", [MeterError("did not answer in time"), RuntimeError("a bug in a driver")])
def test_a_failing_plug_is_null_with_a_reason_and_is_asked_again(combine, error):
    meter = combine(wall=Wall(error, 250.0), wall_period_s=0.02)
    assert until(lambda: meter.read().wall_power_w) == 250
    assert str(error) in meter.info().reasons["wall_power_w"]


def test_closing_ends_the_threads(combine):
    wall = Wall(300.0)
    meter = combine(wall=wall, wall_period_s=30)
    assert meter.name == "simulated+shelly"
    meter.close()
    assert wall.closed
    assert "wall-reader" not in [thread.name for thread in threading.enumerate()]
