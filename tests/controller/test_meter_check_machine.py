"""The machine of a case: its load is exact, its driver behaves, and the real one is out of reach."""

import pynvml
import pytest
from asyncenergy_controller.meter_check.cases import CASES, Case, flat
from asyncenergy_controller.meter_check.load import Load
from asyncenergy_controller.meter_check.machine import machine_of
from asyncenergy_controller.meter_check.nvml import Faults
from hypothesis import given, settings
from hypothesis import strategies as st
from pynvml import nvmlDeviceGetPowerUsage

REAL_INIT = pynvml.nvmlInit
ON_GPU = Case("test", "", (flat(10, 100, 1000),))
POINTS = st.lists(st.tuples(st.floats(0.01, 50), st.floats(1, 1000)), min_size=1, max_size=8)


@settings(max_examples=60)
@given(points=POINTS, share=st.floats(0, 1))
def test_energy_is_the_sum_of_what_was_drawn_before_and_after_any_instant(points, share):
    load = Load(0, points[0][1])
    ends_s = [sum(step for step, _ in points[: i + 1]) for i in range(len(points))]
    load.play(0, [(end_s, power_w) for end_s, (_, power_w) in zip(ends_s, points, strict=True)])
    at_s = share * ends_s[-1]
    steps = 2000
    width_s = ends_s[-1] / steps
    summed_j = sum(load.power_w((i + 0.5) * width_s) for i in range(steps)) * width_s
    assert load.energy_j(ends_s[-1]) == pytest.approx(summed_j, rel=0.01)
    assert 0 <= load.energy_j(at_s) <= load.energy_j(ends_s[-1])


def test_power_stays_as_it_is_before_and_after_a_load():
    load = Load(10, 30)
    load.play(20, [(0, 100), (5, 100), (5, 40)])
    assert [load.power_w(t_s) for t_s in (0, 15, 20, 24, 25, 99)] == [30, 30, 100, 100, 40, 40]
    assert load.energy_j(30) == 10 * 30 + 5 * 100 + 5 * 40


def test_the_driver_counts_and_measures_what_the_load_draws():
    with machine_of(ON_GPU) as machine:
        pynvml.nvmlInit()
        board = pynvml.nvmlDeviceGetHandleByIndex(0)
        first_mj = pynvml.nvmlDeviceGetTotalEnergyConsumption(board)
        machine._clock.sleep(10)
        assert pynvml.nvmlDeviceGetTotalEnergyConsumption(board) - first_mj == pytest.approx(1_000_000, abs=10_100)
        assert nvmlDeviceGetPowerUsage(board) == 100_000  # held by name before the machine was there


def test_the_counter_moves_in_steps_of_a_tenth_of_a_second():
    with machine_of(ON_GPU) as machine:
        pynvml.nvmlInit()
        board = pynvml.nvmlDeviceGetHandleByIndex(0)
        machine._clock.now_s = 1000.31
        readings = [pynvml.nvmlDeviceGetTotalEnergyConsumption(board) for _ in range(40)]
    assert sorted(set(readings)) == [5_000_030_000, 5_000_040_000]


def test_a_library_that_was_shut_down_answers_nothing():
    with machine_of(ON_GPU):
        with pytest.raises(pynvml.NVMLError_Uninitialized):
            pynvml.nvmlDeviceGetCount()
        pynvml.nvmlInit()
        assert pynvml.nvmlDeviceGetCount() == 1
        pynvml.nvmlShutdown()
        with pytest.raises(pynvml.NVMLError_Uninitialized):
            pynvml.nvmlDeviceGetCount()


def test_a_function_that_is_not_played_is_not_supported_and_writes_are_among_them():
    with machine_of(ON_GPU):
        pynvml.nvmlInit()
        board = pynvml.nvmlDeviceGetHandleByIndex(0)
        for call in (
            lambda: pynvml.nvmlDeviceSetPowerManagementLimit(board, 100_000),
            lambda: pynvml.nvmlDeviceGetFanSpeed(board),
        ):
            with pytest.raises(pynvml.NVMLError_NotSupported):
                call()


def test_every_function_of_the_library_is_replaced_and_given_back():
    real = {name: getattr(pynvml, name) for name in dir(pynvml) if name.startswith("nvml")}
    functions = {name: value for name, value in real.items() if callable(value)}
    with machine_of(ON_GPU):
        assert [name for name, value in functions.items() if getattr(pynvml, name) is value] == []
    assert {name: getattr(pynvml, name) for name in real} == real
    assert pynvml.nvmlInit is REAL_INIT


def test_a_cpu_machine_has_no_gpu_and_a_gpu_machine_no_cpu_counter():
    cases = {case.name: case for case in CASES}
    with machine_of(cases["wrap"]) as machine:
        with pytest.raises(pynvml.NVMLError_LibraryNotFound):
            pynvml.nvmlInit()
        assert (machine.device.powercap / "intel-rapl:0" / "name").read_text() == "package-0\n"
    with machine_of(cases["flat"]) as machine:
        assert list(machine.device.powercap.iterdir()) == []


def test_the_package_wraps_at_its_range():
    cases = {case.name: case for case in CASES}
    with machine_of(cases["wrap"]) as machine:
        zone = machine.device.powercap / "intel-rapl:0"
        range_uj = int((zone / "max_energy_range_uj").read_text())
        readings = []
        for _ in range(15):
            machine._clock.sleep(10)
            readings.append(int((zone / "energy_uj").read_text()))
    falls = sum(b < a for a, b in zip(readings, readings[1:], strict=False))
    drawn_uj = falls * range_uj + readings[-1] - readings[0]
    assert falls == 2 or (falls == 1 and readings[0] < 10_000_000_000)
    assert drawn_uj == pytest.approx(14 * 10 * 600e6)


def test_the_choice_of_real_gpus_does_not_reach_the_machine(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    import os

    with machine_of(ON_GPU):
        assert "CUDA_VISIBLE_DEVICES" not in os.environ
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "7"


@pytest.mark.parametrize(
    ("faults", "after_s", "error"),
    [
        (Faults(has_counter=False), 0, pynvml.NVMLError_NotSupported),
        (Faults(counter_reads_from_s=3), 2, pynvml.NVMLError_Unknown),
        (Faults(silent_s=(1, 9)), 5, pynvml.NVMLError_Unknown),
    ],
)
def test_a_fault_is_an_error_of_the_driver(faults, after_s, error):
    with machine_of(Case("test", "", (flat(10, 100, 1000),), faults=faults)) as machine:
        pynvml.nvmlInit()
        board = pynvml.nvmlDeviceGetHandleByIndex(0)
        machine._begin(machine._case.windows[0])
        machine._clock.sleep(after_s)
        with pytest.raises(error):
            pynvml.nvmlDeviceGetTotalEnergyConsumption(board)
