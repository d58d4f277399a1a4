"""Which meter a machine gets, and the meters that measure nothing real."""

import time

import pynvml
import pytest
from asyncenergy_controller import metrics
from asyncenergy_controller.errors import DeviceNotFound, ExitCode, MeterUnavailable, UsageError
from asyncenergy_controller.meters import rapl
from asyncenergy_controller.meters.select import open_meter
from asyncenergy_controller.meters.simulated import SimulatedMeter
from asyncenergy_controller.sampler import Trace

from .fakes_nvml import FakeBoard, FakeNvml, VirtualClock, install
from .fakes_plugs import Answer, FakePlug


@pytest.fixture
def no_gpu(monkeypatch, tmp_path):
    fake = install(monkeypatch, FakeNvml())
    fake.fails["nvmlInit"] = pynvml.NVML_ERROR_LIBRARY_NOT_FOUND
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(rapl.RaplMeter.__init__, "__defaults__", (tmp_path,))
    return tmp_path


def add_package(root):
    folder = root / "intel-rapl:0"
    folder.mkdir()
    (folder / "name").write_text("package-0")
    (folder / "energy_uj").write_text("1")


def test_auto_takes_the_gpu_where_there_is_one(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    install(monkeypatch, FakeNvml())
    assert open_meter().name == "nvml"


def test_auto_takes_the_cpu_where_there_is_no_gpu(no_gpu):
    add_package(no_gpu)
    assert open_meter().name == "rapl"


def test_a_gpu_carries_the_cpu_along_where_that_is_readable(no_gpu, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    install(monkeypatch, FakeNvml())
    add_package(no_gpu)
    meter = open_meter()
    assert (meter.name, meter.read().cpu_energy_uj) == ("nvml+rapl", 1)
    assert (meter.info().energy_source, meter.info().energy_boundary) == ("counter", "gpu_board")


def test_a_cpu_that_a_container_hides_takes_no_gpu_away(no_gpu, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    install(monkeypatch, FakeNvml())
    (no_gpu / "intel-rapl:0").symlink_to(no_gpu / "hidden")
    assert open_meter().name == "nvml"


def test_a_wall_plug_is_read_beside_the_meter(no_gpu):
    plug = FakePlug()
    plug.answer = Answer('{"apower": 187.0}')
    meter = open_meter("simulated", wall=f"shelly:{plug.address}")
    end_s = time.monotonic() + 3
    watts = None
    while watts is None and time.monotonic() < end_s:
        watts = meter.read().wall_power_w
    meter.close()
    plug.close()
    assert (meter.name, watts) == ("simulated+shelly", 187)


@pytest.mark.parametrize("kind", ["nvml", "nvidia-smi", "amd", "apple", "rapl"])
def test_a_named_kind_that_is_not_here_says_what_is_missing(no_gpu, kind):
    with pytest.raises(MeterUnavailable) as caught:
        open_meter(kind)
    assert caught.value.exit_code == ExitCode.NO_METER


def test_auto_measures_nothing_rather_than_invent_something(no_gpu):
    meter = open_meter()
    reading = meter.read()
    assert (meter.name, meter.info().energy_source) == ("null", None)
    assert (reading.gpu_power_w, reading.gpu_energy_mj, reading.cpu_energy_uj) == (None, None, None)
    for tried in ("NVML", "nvidia-smi", "amdsmi", "Apple", "RAPL"):
        assert tried in meter.info().reasons["energy"]


def test_a_named_device_is_never_replaced_by_another_meter(no_gpu):
    with pytest.raises(MeterUnavailable, match="not installed"):
        open_meter(device="0")


def test_a_wrong_device_is_an_error_and_no_reason_to_measure_the_cpu(monkeypatch):
    install(monkeypatch, FakeNvml(FakeBoard()))
    with pytest.raises(DeviceNotFound) as caught:
        open_meter(device="5")
    assert caught.value.exit_code == ExitCode.USAGE


def test_an_unknown_kind_is_refused_with_the_choices():
    with pytest.raises(UsageError, match="'nvlm'.*nvml"):
        open_meter("nvlm")


def test_the_simulated_meter_says_so_everywhere():
    info = open_meter("simulated").info()
    assert (info.meter, info.energy_source, info.device_kind) == ("simulated", "simulated", "cpu")
    assert info.device_name == "Simulated"


def test_one_seed_gives_one_simulation():
    def powers(seed):
        clock = VirtualClock()
        meter = SimulatedMeter(seed=seed, clock=clock)
        values = []
        for _ in range(50):
            clock.pass_s(0.2)
            values.append(meter.read().gpu_power_w)
        return values

    assert powers(1) == powers(1) != powers(2)
    assert min(powers(1)) > 0


def test_the_simulated_counter_and_power_agree():
    clock = VirtualClock()
    meter = SimulatedMeter(clock=clock)
    readings = [meter.read()]
    for _ in range(300):
        clock.pass_s(0.2)
        readings.append(meter.read())
    columns = Trace(tuple(readings), readings[0].t_s, 0.0).columns()
    counted = metrics.counter_energy_j(columns["gpu_energy_mj"]).joules
    assert counted == pytest.approx(metrics.integrate_power_j(columns["t_s"], columns["gpu_power_w"]), rel=0.01)
