"""Which energy a whole trace has: a reading that did not cover all of it is not the energy of all of it."""

import pytest
from asyncenergy_controller import sampler as sampling
from asyncenergy_controller.meters.base import MeterInfo, Reading
from asyncenergy_controller.meters.energy import energy_of
from asyncenergy_controller.meters.nvml import NvmlMeter
from asyncenergy_controller.metrics import REASONS
from asyncenergy_controller.sampler import Sampler

from .fakes_nvml import FakeBoard, FakeNvml, VirtualClock, flat, install

GPU = MeterInfo(meter="nvml", energy_source="counter", energy_boundary="gpu_board")
CPU = MeterInfo(meter="rapl", energy_source="rapl", energy_boundary="cpu_package", cpu_energy_range_uj=1e9)


def trace(seconds, power_w=lambda t: 280.0, counter_mj=lambda t: None):
    """One reading a second."""
    return [Reading(t_s=t, gpu_power_w=power_w(t), gpu_energy_mj=counter_mj(t)) for t in map(float, range(seconds + 1))]


def counter(t):
    return 5e9 + 280e3 * t


@pytest.mark.parametrize("readable", [lambda t: t >= 90, lambda t: t <= 10, lambda t: 40 <= t <= 60])
def test_a_counter_that_was_readable_for_a_part_is_not_the_energy_of_the_whole(readable):
    readings = trace(100, counter_mj=lambda t: counter(t) if readable(t) else None)
    found = energy_of(readings, GPU)
    assert (found.joules, found.source) == (pytest.approx(28_000), "integrated")


@pytest.mark.parametrize("readable", [lambda t: t >= 60, lambda t: t <= 40])
def test_a_power_that_was_readable_for_a_part_is_no_energy_and_says_so(readable):
    found = energy_of(trace(100, power_w=lambda t: 280.0 if readable(t) else None), GPU)
    assert (found.joules, found.source, found.reason) == (
        None,
        None,
        f"{REASONS['counter_unsupported']} {REASONS['window_not_sampled']}",
    )


def test_a_package_whose_counter_came_late_has_no_energy():
    late = [Reading(t_s=float(t), cpu_energy_uj=50e6 * t if t >= 5 else None) for t in range(11)]
    assert energy_of(late, CPU).joules is None
    assert energy_of(late[5:], CPU).joules == pytest.approx(250)


def test_an_edge_without_the_counter_for_a_moment_is_no_part_that_is_missing():
    """A counter is read no more often than it moves, so the first or last of two close readings lacks it."""
    inner = [Reading(t_s=float(t), gpu_energy_mj=counter(t)) for t in range(11)]
    readings = [Reading(t_s=-0.1), *inner, Reading(t_s=10.1)]
    assert energy_of(readings, GPU).joules == pytest.approx(2800)


def test_two_tasks_one_right_after_the_other_are_both_measured_from_their_start(monkeypatch):
    clock = VirtualClock()
    install(monkeypatch, FakeNvml(FakeBoard(energy_j=flat(100)), clock=clock))
    monkeypatch.setattr(sampling.time, "sleep", clock.pass_s)
    meter = NvmlMeter(environ={}, clock=clock)
    for _ in range(3):
        sampler = Sampler(meter, 600, clock=clock).start()
        clock.pass_s(3)
        found = energy_of(sampler.stop().readings, meter.info())
        assert (found.joules, found.source) == (pytest.approx(300, abs=20), "counter")
