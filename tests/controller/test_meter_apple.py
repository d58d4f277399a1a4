"""Apple silicon: the chip's own energy model, under its own name."""

from types import SimpleNamespace

import pytest
from asyncenergy_controller import metrics
from asyncenergy_controller.errors import MeterUnavailable
from asyncenergy_controller.meters import apple
from asyncenergy_controller.meters.apple import AppleMeter
from asyncenergy_controller.sampler import Trace

from .fakes_nvml import VirtualClock

PARTS = {"cpu_total_mj": 5000, "gpu_mj": 20_000, "gpu_sram_mj": 10, "dram_mj": 3000, "ane_mj": 0}


@pytest.fixture
def clock():
    return VirtualClock(0.0)


@pytest.fixture
def install(monkeypatch, clock):
    """Put a fake chip in place, whose parts each draw a constant power: PARTS in a second."""

    def put(**changes):
        parts = PARTS | changes

        def cumulative():
            if isinstance(parts["gpu_mj"], Exception):
                raise parts["gpu_mj"]
            return SimpleNamespace(**{n: None if v is None else round(v * clock()) for n, v in parts.items()})

        monitor = SimpleNamespace(get_cumulative_energy=cumulative)
        monkeypatch.setattr(apple, "_zeus_apple", lambda: SimpleNamespace(AppleEnergyMonitor=lambda: monitor))
        return parts

    return put


def joules(meter, clock, seconds=10):
    readings = []
    for _ in range(seconds + 1):
        clock.pass_s(1)
        readings.append(meter.read())
    return metrics.counter_energy_j(Trace(tuple(readings), 0.0, 0.0).columns()["gpu_energy_mj"]).joules


def test_the_parts_of_the_chip_are_summed_in_joules(install, clock):
    install()
    meter = AppleMeter(clock=clock)
    assert joules(meter, clock) == pytest.approx(280.1)
    info = meter.info()
    assert (info.energy_source, info.energy_boundary, info.device_kind) == ("ioreport", "soc", "soc")
    assert info.reasons["gpu_power_w"]


def test_a_part_that_the_chip_does_not_report_is_left_out_and_said(install, clock):
    install(dram_mj=None)
    meter = AppleMeter(clock=clock)
    assert joules(meter, clock) == pytest.approx(250.1)
    assert "dram_mj" in meter.info().reasons["energy_boundary"]


@pytest.mark.parametrize(("first", "then"), [(None, 3000), (3000, None)])
def test_a_part_that_comes_or_goes_brings_no_energy_of_its_past(install, clock, first, then):
    parts = install(dram_mj=first)
    clock.pass_s(1000)
    meter = AppleMeter(clock=clock)
    readings = [meter.read()]
    parts["dram_mj"] = then
    clock.pass_s(10)
    readings.append(meter.read())
    told = [reading.gpu_energy_mj for reading in readings if reading.gpu_energy_mj is not None]
    assert told == [25_010_000, 25_260_100] if first is None else told == [28_010_000]
    assert ("dram_mj" in meter.info().reasons.get("gpu_energy_mj", "")) is (then is None)


@pytest.mark.parametrize("changes", [{"cpu_total_mj": None}, {"gpu_mj": None}, {"gpu_mj": RuntimeError("gone")}])
def test_without_cpu_or_gpu_there_is_no_energy_of_the_chip(install, clock, changes):
    install(**changes)
    meter = AppleMeter(clock=clock)
    assert meter.read().gpu_energy_mj is None
    assert meter.info().reasons["gpu_energy_mj"]


@pytest.mark.parametrize("error", [ImportError("No module named 'zeus_apple_silicon'"), RuntimeError("no IOReport")])
def test_off_apple_silicon_it_is_unavailable_and_names_the_extra(monkeypatch, error):
    def fail():
        raise error

    monkeypatch.setattr(apple, "_zeus_apple", fail)
    with pytest.raises(MeterUnavailable, match=r"\[apple\]"):
        AppleMeter()
