"""What a measured stretch of work is reported as: energy by the rules of everywhere, or none and why."""

import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest
from asyncenergy_controller import clock
from asyncenergy_controller.meters.base import MeterInfo, Reading
from asyncenergy_controller.meters.energy import energy_of
from asyncenergy_controller.meters.null import NullMeter
from asyncenergy_controller.meters.nvml import NvmlMeter
from asyncenergy_controller.meters.simulated import SimulatedMeter
from asyncenergy_controller.metrics.throttling import WORDS, throttle_words
from asyncenergy_controller.reporting import RunRecord, measured
from asyncenergy_controller.reporting.measure import measurement_of
from asyncenergy_controller.reporting.records import samples_of
from asyncenergy_controller.sampler import Trace
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.records import THROTTLE_NAMES, samples_reading
from tests.controller.fakes_nvml import FakeBoard, FakeNvml, flat, install

AT = datetime(2026, 12, 1, 3, 0, tzinfo=UTC)
GPU = MeterInfo(meter="nvml", energy_source="counter", energy_boundary="gpu_board")
CPU = MeterInfo(
    meter="rapl", energy_source="rapl", energy_boundary="cpu_package", device_kind="cpu", cpu_energy_range_uj=1000e6
)


def readings(seconds, **channels):
    """One a second; a channel is a constant, or a list of what it read."""
    return [
        Reading(t_s=100.0 + t, **{name: v[t] if isinstance(v, list) else v for name, v in channels.items()})
        for t in range(seconds + 1)
    ]


def measurement(trace, info=GPU, **values):
    return measurement_of(Trace(tuple(trace), trace[0].t_s, 0.0), info, AT, **values)


def test_the_counter_is_preferred_and_named():
    trace = readings(60, gpu_energy_mj=[5e9 + 280e3 * t for t in range(61)], gpu_power_w=270.0)
    found = measurement(trace)
    assert found.energy_wh == pytest.approx(16_800 / 3600)
    assert (found.energy_source, found.reason) == ("counter", None)
    assert found.avg_w == pytest.approx(280)
    assert found.duration_s == 60


def test_a_counter_that_fell_gives_way_to_the_integral():
    trace = readings(2, gpu_energy_mj=[10e6, 12e6, 3e6], gpu_power_w=100.0)
    assert (measurement(trace).energy_wh, measurement(trace).energy_source) == (pytest.approx(200 / 3600), "integrated")


def test_without_a_counter_power_is_integrated_and_equal_samples_count():
    found = measurement(readings(100, gpu_power_w=26.0))
    assert found.energy_wh == pytest.approx(2600 / 3600)
    assert found.energy_source == "integrated"


def test_the_package_of_a_cpu_is_counted_past_its_wraps():
    found = measurement(readings(4, cpu_energy_uj=[900e6, 100e6, 800e6, None, 50e6]), CPU)
    assert (found.energy_wh, found.energy_source) == (pytest.approx(1150 / 3600), "rapl")
    assert found.avg_w == pytest.approx(1150 / 4)


def test_what_a_gpu_drew_is_never_what_the_cpu_did():
    found = measurement(readings(4, cpu_energy_uj=[0.0, 1e6, 2e6, 3e6, 4e6]))
    assert (found.energy_wh, found.energy_source, found.avg_w) == (None, None, None)
    assert "no energy counter reading" in found.reason


def test_a_hole_of_over_30_s_without_a_counter_is_no_energy_and_says_so():
    trace = [Reading(t_s=t, gpu_power_w=100.0) for t in (0.0, 1.0, 32.0, 33.0)]
    found = measurement(trace)
    assert found.energy_wh is None
    assert "over 30 s" in found.reason
    assert len(found.samples) == 4


def test_a_power_of_zero_is_a_reading_that_failed():
    assert measurement(readings(2, gpu_power_w=[100.0, 0.0, 100.0])).energy_wh == pytest.approx(200 / 3600)


def test_the_meters_own_words_say_why_nothing_was_measured():
    with measured(NullMeter(), 0.05) as measuring:
        pass
    found = measuring.measurement
    assert (found.energy_wh, found.avg_w, found.peak_w, found.gpu_mem_mb) == (None, None, None, None)
    assert "no meter was found on this machine" in found.reason


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(1, 700), min_size=2, max_size=60))
def test_a_steady_counter_and_the_integral_of_its_power_agree(watts):
    """Counter of a power that is linear between the samples: both readings are one number."""
    steps_j = [(a + b) / 2 for a, b in zip(watts, watts[1:], strict=False)]
    counter = [1000 * sum(steps_j[:t]) for t in range(len(watts))]
    trace = readings(len(watts) - 1, gpu_power_w=watts)
    counted = energy_of(readings(len(watts) - 1, gpu_energy_mj=counter), GPU)
    assert energy_of(trace, GPU).joules == pytest.approx(counted.joules)


def test_peaks_come_from_the_instant_field_and_memory_is_the_most_in_use():
    trace = readings(
        2, gpu_power_w=300.0, gpu_power_instant_w=[120.0, 753.0, 300.0], gpu_mem_used_mib=[1.0, 1000.0, 2.0]
    )
    found = measurement(trace)
    assert found.peak_w == 753
    assert found.gpu_mem_mb == pytest.approx(1048.576)
    assert measurement(readings(1, gpu_power_w=[5.0, 7.0])).peak_w == 7


def test_a_record_takes_what_was_measured():
    record = RunRecord(controller_id="box", run_id="r1", ts=AT, exit_status="success")
    done = measurement(readings(10, gpu_power_w=360.0)).onto(record)
    assert (done.energy_wh, done.energy_source, done.duration_s, done.avg_w) == (1.0, "integrated", 10.0, 360.0)
    assert (done.run_id, done.exit_status) == ("r1", "success")


def test_the_energy_of_the_package_is_not_kept_for_the_next_block(nvml):
    meter = NvmlMeter(environ={})
    found = []
    for _ in range(2):
        with measured(meter, 0.05) as measuring:
            time.sleep(0.25)
        found.append(measuring.measurement)
    assert [one.energy_source for one in found] == ["counter", "counter"]
    assert [one.avg_w for one in found] == [pytest.approx(100, rel=0.5)] * 2


@pytest.fixture
def nvml(monkeypatch):
    return install(monkeypatch, FakeNvml(FakeBoard(energy_j=flat(100)), clock=time.monotonic))


def test_a_block_that_fails_is_measured_too():
    with pytest.raises(KeyError), measured(SimulatedMeter(), 0.05) as measuring:
        raise KeyError
    assert measuring.measurement.energy_source == "simulated"


def test_while_the_block_runs_its_energy_so_far_is_there_and_the_measurement_is_not():
    with measured(SimulatedMeter(), 0.05) as measuring:
        time.sleep(0.3)
        assert measuring.energy_so_far_wh() == pytest.approx(40 * 0.3 / 3600, rel=0.7)
        with pytest.raises(RuntimeError, match="when its `with` block has ended"):
            _ = measuring.measurement
    assert measuring.measurement.duration_s >= 0.3


def test_samples_are_as_the_wire_says():
    reading = Reading(
        t_s=7.0,
        gpu_power_w=300.0,
        gpu_util_pct=98.0,
        gpu_mem_util_pct=40.0,
        gpu_mem_used_mib=1000.0,
        gpu_temp_c=61.0,
        sm_clock_mhz=1980.0,
        throttle_mask=0x24,
        cpu_energy_uj=5e12,
    )
    (sample,) = samples_of([reading], AT)
    assert sample == {
        "ts": "2026-12-01T03:00:00.000+00:00",
        "power_w": 300.0,
        "util_gpu": 98.0,
        "util_mem": 40.0,
        "mem_used_mb": pytest.approx(1048.576),
        "temp_c": 61.0,
        "sm_clock_mhz": 1980.0,
        "throttle_reasons": "sw_power_cap,sw_thermal",
        "cpu_rapl_uj": 0.0,
    }


def test_the_server_reads_every_sample_without_a_warning():
    trace = readings(5, gpu_power_w=[1.0, None, 3.0, 4.0, 5.0, 6.0], throttle_mask=[0, 1, 0x1FF, 0x400, None, 8])
    found, warnings = samples_reading(samples_of(trace, AT))
    assert warnings == []
    assert [sample["power_w"] for sample in found.values()] == [1.0, None, 3.0, 4.0, 5.0, 6.0]
    assert [s["throttle_reasons"] for s in found.values()][3:] == ["0x400", None, "hw_slowdown"]


def test_samples_stay_a_period_apart_where_the_time_of_day_jumps(monkeypatch):
    with measured(SimulatedMeter(), 0.05) as measuring:
        monkeypatch.setattr(clock, "now", lambda: AT - timedelta(days=400))
        time.sleep(0.12)
    times = [datetime.fromisoformat(sample["ts"]) for sample in measuring.measurement.samples]
    assert times == sorted(times)
    assert timedelta(seconds=0.1) < times[-1] - times[0] < timedelta(seconds=2)
    assert 0.1 < measuring.measurement.duration_s < 2


def test_with_a_faster_clock_samples_are_as_far_apart_as_the_time_of_day():
    times = [sample["ts"] for sample in samples_of(readings(1, gpu_power_w=1.0), AT, factor=60)]
    assert times == ["2026-12-01T03:00:00.000+00:00", "2026-12-01T03:01:00.000+00:00"]


def test_readings_at_one_instant_are_one_sample():
    trace = [*readings(1, gpu_power_w=100.0), Reading(t_s=101.0, gpu_power_w=100.0)]
    assert len(measurement(trace).samples) == 2


@pytest.mark.parametrize(
    ("counter", "range_uj", "sent"),
    [
        ([900e6, 950e6, 50e6], 1000e6, [0.0, 50e6, 150e6]),
        ([900e6, None, 950e6], None, [0.0, None, 50e6]),
        ([900e6, 50e6, 60e6], None, [None, None, None]),
        ([900e6, 50e6, 60e6], 100e6, [None, None, None]),
        ([None, None, None], 1000e6, [None, None, None]),
    ],
)
def test_the_cpus_counter_is_counted_from_the_first_sample_and_past_its_wraps(counter, range_uj, sent):
    trace = readings(2, cpu_energy_uj=counter)
    assert [sample["cpu_rapl_uj"] for sample in samples_of(trace, AT, cpu_range_uj=range_uj)] == sent


@pytest.mark.parametrize(
    ("mask", "words"),
    [(0, "none"), (1, "gpuidle"), (0x40, "hw_thermal"), (0x24, "sw_power_cap,sw_thermal"), (0x401, "0x401")],
)
def test_reasons_of_throttling_are_words(mask, words):
    assert throttle_words(mask) == words


def test_the_words_are_those_that_the_server_knows():
    assert {*WORDS.values(), "none"} == THROTTLE_NAMES


def test_a_measurement_begins_at_the_time_of_day_of_its_first_reading():
    before = clock.now()
    with measured(SimulatedMeter(), 0.05) as measuring:
        pass
    first = datetime.fromisoformat(measuring.measurement.samples[0]["ts"])
    assert before - timedelta(seconds=1) <= first <= clock.now()


@pytest.mark.parametrize("package", ["reporting", "capping", "sdk", "meters.select", "loop.assembly"])
def test_what_stays_loaded_all_day_loads_no_arrays(package):
    code = f"import sys, asyncenergy_controller.{package}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert f"asyncenergy_controller.{package}" in loaded
    assert {"numpy", "scipy", "pyarrow", "rich"}.isdisjoint(loaded)
