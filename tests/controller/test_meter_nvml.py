"""The NVML meter: every channel right, or None with a reason; never 0."""

import os
import time
from types import SimpleNamespace

import pynvml
import pytest
from asyncenergy_controller import metrics
from asyncenergy_controller.errors import MeterUnavailable
from asyncenergy_controller.meters import processes
from asyncenergy_controller.meters.nvml import NvmlMeter
from asyncenergy_controller.sampler import Sampler, Trace

from .fakes_nvml import FakeBoard, FakeNvml, VirtualClock, flat, install, steps


@pytest.fixture
def clock():
    return VirtualClock()


def open_on(monkeypatch, clock, *boards, **kwargs):
    fake = install(monkeypatch, FakeNvml(*boards, clock=clock))
    clock.pass_s(1)
    return fake, NvmlMeter(environ={}, clock=clock, **kwargs)


def read_on(meter, clock, seconds, period_s=0.2):
    """Read at a steady pace on the virtual clock."""
    readings = []
    for _ in range(round(seconds / period_s)):
        clock.pass_s(period_s)
        readings.append(meter.read())
    return readings


def columns_of(readings):
    return Trace(tuple(readings), readings[0].t_s, 0.0).columns()


def record(meter, clock, seconds, period_s=0.2):
    """Return the columns of so many seconds, both edges covered."""
    return columns_of(read_on(meter, clock, seconds + period_s, period_s))


def counter_j(columns):
    return metrics.counter_energy_j(columns["gpu_energy_mj"]).joules


def power_j(columns):
    return metrics.integrate_power_j(columns["t_s"], columns["gpu_power_w"])


def test_280_watts_for_a_minute_are_16800_joules_by_counter_and_by_power(monkeypatch, clock):
    _, meter = open_on(monkeypatch, clock, FakeBoard(energy_j=flat(280)))
    columns = record(meter, clock, 60)
    assert counter_j(columns) == pytest.approx(16_800)
    assert power_j(columns) == pytest.approx(16_800)
    assert columns["gpu_energy_mj"][0] == 0


def test_ten_equal_seconds_at_100_watts_are_1000_joules(monkeypatch, clock):
    _, meter = open_on(monkeypatch, clock, FakeBoard(energy_j=flat(100)))
    columns = record(meter, clock, 10)
    assert len(columns["t_s"]) == 51
    assert power_j(columns) == pytest.approx(1000)


def test_a_step_from_100_to_300_watts_is_2000_joules_within_a_sample(monkeypatch, clock):
    _, meter = open_on(monkeypatch, clock, FakeBoard(energy_j=steps((6.2, 100), (100, 300))))
    columns = record(meter, clock, 10)
    assert counter_j(columns) == pytest.approx(2000, abs=300 * 0.2)
    assert power_j(columns) == pytest.approx(2000, abs=300 * 0.2)


def test_a_minute_at_300_watts_is_kept_whole(monkeypatch, clock):
    _, meter = open_on(monkeypatch, clock, FakeBoard(energy_j=flat(300)))
    columns = record(meter, clock, 60)
    assert len(columns["t_s"]) == 301
    assert counter_j(columns) == pytest.approx(18_000)


def test_a_card_without_a_counter_is_integrated_and_its_counter_is_no_column(monkeypatch, clock):
    fails = {"nvmlDeviceGetTotalEnergyConsumption": pynvml.NVML_ERROR_NOT_SUPPORTED}
    _, meter = open_on(monkeypatch, clock, FakeBoard(energy_j=flat(26), fails=fails))
    columns = record(meter, clock, 100)
    assert power_j(columns) == pytest.approx(2600)
    assert "gpu_energy_mj" not in columns
    assert meter.info().energy_source == "integrated"
    assert meter.info().reasons["gpu_energy_mj"] == "not supported by this GPU or driver"


def test_a_card_without_counter_and_power_opens_and_says_that_it_has_no_energy(monkeypatch, clock):
    names = ("nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetPowerUsage", "average", "instant")
    board = FakeBoard(fails=dict.fromkeys(names, pynvml.NVML_ERROR_NOT_SUPPORTED))
    _, meter = open_on(monkeypatch, clock, board)
    reading = meter.read()
    assert (reading.gpu_power_w, reading.gpu_energy_mj, reading.power_field) == (None, None, None)
    assert reading.gpu_temp_c == 40
    assert meter.info().energy_source is None
    assert {"gpu_power_w", "gpu_power_instant_w", "gpu_energy_mj"} <= meter.info().reasons.keys()


@pytest.mark.parametrize(
    ("function", "channel"),
    [
        ("nvmlDeviceGetTotalEnergyConsumption", "gpu_energy_mj"),
        ("nvmlDeviceGetUtilizationRates", "gpu_util_pct"),
        ("nvmlDeviceGetUtilizationRates", "gpu_mem_util_pct"),
        ("nvmlDeviceGetMemoryInfo", "gpu_mem_used_mib"),
        ("nvmlDeviceGetTemperature", "gpu_temp_c"),
        ("nvmlDeviceGetClockInfo", "sm_clock_mhz"),
        ("nvmlDeviceGetCurrentClocksThrottleReasons", "throttle_mask"),
        ("nvmlDeviceGetComputeRunningProcesses", "other_processes"),
        ("average", "gpu_power_w"),
        ("instant", "gpu_power_instant_w"),
    ],
)
@pytest.mark.parametrize("code", [pynvml.NVML_ERROR_NO_PERMISSION, pynvml.NVML_ERROR_UNKNOWN])
def test_each_channel_fails_alone_with_a_reason(monkeypatch, clock, function, channel, code):
    fake, meter = open_on(monkeypatch, clock)
    before = meter.read()
    fake.boards[0].fails[function] = code
    clock.pass_s(0.2)
    after = meter.read()
    assert getattr(before, channel) is not None or channel == "gpu_energy_mj"
    assert getattr(after, channel) is None
    assert meter.info().reasons[channel]
    assert after.gpu_power_w is not None or channel == "gpu_power_w"


def test_a_gpu_lost_in_mid_run_gives_empty_readings_with_the_reason(monkeypatch, clock):
    fake, meter = open_on(monkeypatch, clock)
    for name in ("nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetTemperature", "average", "instant"):
        fake.boards[0].fails[name] = pynvml.NVML_ERROR_GPU_IS_LOST
    clock.pass_s(0.2)
    reading = meter.read()
    assert (reading.gpu_power_w, reading.gpu_energy_mj, reading.gpu_temp_c) == (None, None, None)
    assert "lost" in meter.info().reasons["gpu_energy_mj"]


def test_zero_watts_are_a_missing_reading(monkeypatch, clock):
    fake, meter = open_on(monkeypatch, clock)
    fake.boards[0].power_zero = True
    clock.pass_s(0.2)
    reading = meter.read()
    assert (reading.gpu_power_w, reading.gpu_power_instant_w) == (None, None)
    assert "0 W" in meter.info().reasons["gpu_power_w"]


@pytest.mark.parametrize("answer", [float("nan"), float("inf")])
def test_a_binding_that_answers_no_number_leaves_a_missing_sample_with_a_reason(monkeypatch, clock, answer):
    fake, meter = open_on(monkeypatch, clock)
    value = SimpleNamespace(nvmlReturn=0, value=SimpleNamespace(uiVal=answer))
    monkeypatch.setattr(fake, "nvmlDeviceGetFieldValues", lambda board, fields: [value], raising=False)
    monkeypatch.setattr(fake, "nvmlDeviceGetTotalEnergyConsumption", lambda board: answer)
    reading = meter.read()
    assert (reading.gpu_power_w, reading.gpu_power_instant_w, reading.gpu_energy_mj) == (None, None, None)
    assert reading.power_field is None
    assert reading.gpu_temp_c == 40
    assert "no reading" in meter.info().reasons["gpu_power_w"]


def test_a_counter_that_stays_at_zero_is_no_counter(monkeypatch, clock):
    board = FakeBoard(counter_start_mj=0, energy_j=lambda passed_s: 0.0)
    _, meter = open_on(monkeypatch, clock, board)
    clock.pass_s(0.2)
    assert meter.read().gpu_energy_mj is None


def test_the_average_field_is_integrated_and_the_instant_one_read_beside_it(monkeypatch, clock):
    fake, meter = open_on(monkeypatch, clock)
    clock.pass_s(0.2)
    reading = meter.read()
    assert (reading.power_field, reading.gpu_power_w, reading.gpu_power_instant_w) == ("average", 100, 100)
    assert fake.calls["nvmlDeviceGetPowerUsage"] == 0


def test_an_older_driver_gives_its_default_power_for_the_whole_run(monkeypatch, clock):
    missing = pynvml.NVML_ERROR_NOT_SUPPORTED
    fake, meter = open_on(monkeypatch, clock, FakeBoard(fails={"average": missing, "instant": missing}))
    fake.boards[0].fails = {}
    columns = record(meter, clock, 1)
    assert columns["power_field"] == "default"
    assert columns["gpu_power_w"] == [100] * 6


def test_the_counter_is_read_no_more_often_than_it_moves(monkeypatch, clock):
    fake, meter = open_on(monkeypatch, clock)
    before = fake.calls["nvmlDeviceGetTotalEnergyConsumption"]
    counters = []
    for _ in range(20):
        clock.pass_s(0.05)
        counters.append(meter.read().gpu_energy_mj)
    assert fake.calls["nvmlDeviceGetTotalEnergyConsumption"] - before == 10
    assert counters.count(None) == 10


def test_at_five_hertz_every_reading_has_the_counter(monkeypatch, clock):
    _, meter = open_on(monkeypatch, clock)
    assert None not in record(meter, clock, 10)["gpu_energy_mj"]


def test_a_counter_unreadable_at_first_starts_from_its_first_good_reading(monkeypatch, clock):
    board = FakeBoard(energy_j=flat(100), fails={"nvmlDeviceGetTotalEnergyConsumption": pynvml.NVML_ERROR_UNKNOWN})
    _, meter = open_on(monkeypatch, clock, board)
    early = [meter.read()]
    board.fails.clear()
    columns = columns_of(early + read_on(meter, clock, 6, period_s=1))
    assert columns["gpu_energy_mj"][:2] == [None, 0]
    assert counter_j(columns) == pytest.approx(500)
    assert meter.info().energy_source == "counter"


def test_a_driver_reload_shows_as_a_fall_and_voids_the_counter(monkeypatch, clock):
    board = FakeBoard(counter_start_mj=10_000_000, energy_j=flat(100))
    _, meter = open_on(monkeypatch, clock, board)
    before = read_on(meter, clock, 1)
    board.counter_start_mj = 3_000
    counted = metrics.counter_energy_j(columns_of(before + read_on(meter, clock, 1))["gpu_energy_mj"])
    assert (counted.joules, counted.reason) == (None, "counter_reset")


def test_a_machine_that_slept_in_mid_run_leaves_a_hole_that_voids_the_integral_and_not_the_counter(monkeypatch, clock):
    asleep_s = 600
    board = FakeBoard(energy_j=steps((10, 100), (asleep_s, 0), (100, 100)))
    _, meter = open_on(monkeypatch, clock, board)
    before = read_on(meter, clock, 8)
    clock.pass_s(asleep_s)
    columns = columns_of(before + read_on(meter, clock, 8))
    assert power_j(columns) is None
    assert counter_j(columns) == pytest.approx(1600, abs=100)


def test_the_first_reading_carries_the_counter_and_one_right_after_it_does_not_ask_again(monkeypatch, clock):
    fake, meter = open_on(monkeypatch, clock)
    calls = fake.calls["nvmlDeviceGetTotalEnergyConsumption"]
    first, second = meter.read(), meter.read()
    assert first.gpu_energy_mj == 5_000_100_000
    assert second.gpu_energy_mj is None
    assert fake.calls["nvmlDeviceGetTotalEnergyConsumption"] == calls + 1


@pytest.mark.parametrize("period_s", [0.05, 0.2])
def test_the_first_and_the_last_reading_of_a_recording_carry_the_counter(monkeypatch, period_s):
    install(monkeypatch, FakeNvml(FakeBoard(), clock=time.monotonic))
    sampler = Sampler(NvmlMeter(environ={}), period_s).start()
    time.sleep(0.22)  # the last steady reading is a moment ago
    trace = sampler.stop()
    assert None not in (trace.readings[0].gpu_energy_mj, trace.readings[-1].gpu_energy_mj)


def test_two_tasks_in_one_process_measure_alike(monkeypatch, clock):
    fake, first = open_on(monkeypatch, clock)
    one = counter_j(record(first, clock, 5))
    first.close()
    second = NvmlMeter(environ={}, clock=clock)
    assert counter_j(record(second, clock, 5)) == pytest.approx(one) == pytest.approx(500)
    assert counter_j(record(first, clock, 5)) == pytest.approx(500)
    assert fake.calls["nvmlShutdown"] == 0


def test_two_selected_boards_are_summed_and_the_third_is_not_counted(monkeypatch, clock):
    boards = [FakeBoard(uuid=f"GPU-{i}", energy_j=flat(watts)) for i, watts in enumerate((100, 200, 400))]
    boards[1].temperature_c, boards[1].throttle, boards[0].throttle = 71, 0x40, 0x4
    install(monkeypatch, FakeNvml(*boards, clock=clock))
    clock.pass_s(1)
    meter = NvmlMeter("0,1", environ={}, clock=clock)
    columns = record(meter, clock, 10)
    assert power_j(columns) == pytest.approx(3000)
    assert counter_j(columns) == pytest.approx(3000)
    assert (columns["gpu_temp_c"][0], columns["throttle_mask"][0], columns["gpu_mem_used_mib"][0]) == (71, 0x44, 4096)
    assert (meter.info().device_count, meter.info().power_limit_w) == (2, 1400)


def test_a_sum_is_withheld_where_one_of_two_boards_gives_nothing(monkeypatch, clock):
    fails = {"nvmlDeviceGetTotalEnergyConsumption": pynvml.NVML_ERROR_NOT_SUPPORTED}
    install(monkeypatch, FakeNvml(FakeBoard(uuid="GPU-a"), FakeBoard(uuid="GPU-b", fails=fails), clock=clock))
    meter = NvmlMeter("all", environ={}, clock=clock)
    clock.pass_s(0.2)
    assert meter.read().gpu_energy_mj is None
    assert meter.info().energy_source == "integrated"


def test_a_strangers_process_is_counted_and_the_engines_family_is_not(monkeypatch, clock):
    monkeypatch.setattr(processes, "in_container", lambda: False)
    board = FakeBoard(pids=(os.getpid(), 999_999_991, 999_999_992))
    _, meter = open_on(monkeypatch, clock, board, own_pids={os.getppid(), 999_999_991})
    assert meter.read().other_processes == 1
    board.pids = (os.getpid(),)
    assert meter.read().other_processes == 0


def test_an_unknown_engine_is_not_counted_as_a_stranger(monkeypatch, clock):
    monkeypatch.setattr(processes, "in_container", lambda: False)
    board = FakeBoard(pids=(999_999_991,))
    _, meter = open_on(monkeypatch, clock, board)
    assert meter.read().other_processes is None
    assert "not known" in meter.info().reasons["other_processes"]
    board.pids = ()
    assert meter.read().other_processes == 0


def test_in_a_container_foreign_process_ids_are_withheld(monkeypatch, clock):
    monkeypatch.setattr(processes, "in_container", lambda: True)
    _, meter = open_on(monkeypatch, clock, FakeBoard(pids=(4242,)), own_pids={999_999_991})
    assert meter.read().other_processes is None
    assert "container" in meter.info().reasons["other_processes"]


def test_the_info_names_driver_limits_and_memory(monkeypatch, clock):
    _, meter = open_on(monkeypatch, clock, FakeBoard(limit_mw=500_000))
    info = meter.info()
    assert (info.device_name, info.driver_version, info.cuda_version) == ("NVIDIA H200", "580.159.04", "13.1")
    assert (info.power_limit_w, info.stock_power_limit_w) == (500, 700)
    assert info.vram_gb == pytest.approx(140.4, abs=0.01)
    assert (info.energy_source, info.energy_boundary, info.device_kind) == ("counter", "gpu_board", "gpu")


def test_an_unreadable_limit_is_none_and_stops_nothing(monkeypatch, clock):
    _, meter = open_on(
        monkeypatch, clock, FakeBoard(fails={"nvmlDeviceGetPowerManagementLimit": pynvml.NVML_ERROR_NOT_SUPPORTED})
    )
    assert meter.info().power_limit_w is None
    assert meter.info().reasons["power_limit_w"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, "not installed"),
        (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, "not loaded"),
        (pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, "reboot"),
    ],
)
def test_no_driver_ends_with_a_clear_message_and_exit_code_3(monkeypatch, clock, code, words):
    fake = install(monkeypatch, FakeNvml(clock=clock))
    fake.fails["nvmlInit"] = code
    with pytest.raises(MeterUnavailable, match=words) as caught:
        NvmlMeter(environ={})
    assert int(caught.value.exit_code) == 3


@pytest.mark.parametrize(
    ("code", "words"),
    [(pynvml.NVML_ERROR_GPU_IS_LOST, "GPU 0: the GPU is lost"), (pynvml.NVML_ERROR_NO_PERMISSION, "refuses it")],
)
def test_where_no_gpu_answers_the_reason_is_told_and_where_one_does_it_is_measured(monkeypatch, clock, code, words):
    fake = install(monkeypatch, FakeNvml(FakeBoard(), FakeBoard(uuid="GPU-2", energy_j=flat(200)), clock=clock))
    silent = {0, 1}

    def handle(index):
        if index in silent:
            raise pynvml.NVMLError(code)
        return fake.boards[index]

    monkeypatch.setattr(fake, "nvmlDeviceGetHandleByIndex", handle)
    with pytest.raises(MeterUnavailable, match=words):
        NvmlMeter(environ={})
    silent.remove(1)
    assert NvmlMeter(environ={}, clock=clock).read().gpu_power_w == 200
