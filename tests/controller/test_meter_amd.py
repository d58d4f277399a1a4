"""AMD GPUs through amdsmi, whose module is faked at the one seam."""

from types import SimpleNamespace

import pytest
from asyncenergy_controller import metrics
from asyncenergy_controller.errors import DeviceNotFound, MeterUnavailable
from asyncenergy_controller.meters import amd, processes
from asyncenergy_controller.meters.amd import AmdMeter
from asyncenergy_controller.sampler import Trace

from .fakes_nvml import VirtualClock


class FakeAmdsmi:
    """What amdsmi answers, with an MI210's counter resolution."""

    class AmdSmiException(Exception):
        pass

    AmdSmiTemperatureType = SimpleNamespace(HOTSPOT=1)
    AmdSmiTemperatureMetric = SimpleNamespace(CURRENT=0)
    AmdSmiClkType = SimpleNamespace(GFX=0)

    def __init__(self, clock, *watts):
        self.clock = clock
        self.watts = watts or (200,)
        self.fails = {}
        self.pids = []
        self.power_fields = {"socket_power": None, "current_socket_power": "N/A"}
        """Field → what it holds; None stands for the watts."""

    def _answer(self, name, value):
        problem = self.fails.get(name)
        if isinstance(problem, str):
            return dict.fromkeys(value, problem) if isinstance(value, dict) else problem
        if problem:
            raise problem
        return value

    def amdsmi_init(self):
        self._answer("init", None)

    def amdsmi_get_processor_handles(self):
        return self._answer("handles", list(range(len(self.watts))))

    def amdsmi_get_gpu_device_uuid(self, handle):
        return self._answer(f"uuid {handle}", f"{handle}0ff74a1-0000-1000-80ad-5b6d5f8c9bd5")

    def amdsmi_get_gpu_asic_info(self, handle):
        return {"market_name": "AMD Instinct MI210"}

    def amdsmi_get_energy_count(self, handle):
        counted = round(self.watts[handle] * self.clock() * 1e6 / 15.259)
        return self._answer("energy", {"energy_accumulator": counted, "counter_resolution": 15.259, "timestamp": 1})

    def amdsmi_get_power_info(self, handle):
        watts = self.watts[handle]
        return self._answer("power", {name: watts if v is None else v for name, v in self.power_fields.items()})

    def amdsmi_get_gpu_activity(self, handle):
        return self._answer("activity", {"gfx_activity": 80, "umc_activity": 20, "mm_activity": "N/A"})

    def amdsmi_get_gpu_vram_usage(self, handle):
        return self._answer("vram", {"vram_total": 65536, "vram_used": 1024})

    def amdsmi_get_temp_metric(self, handle, sensor, metric):
        return self._answer("temperature", 55)

    def amdsmi_get_clock_info(self, handle, clock):
        return self._answer("clock", {"clk": 1700})

    def amdsmi_get_power_cap_info(self, handle):
        return self._answer("cap", {"power_cap": 300_000_000, "default_power_cap": 300_000_000})

    def amdsmi_get_gpu_driver_info(self, handle):
        return self._answer("driver", {"driver_version": "6.10.5"})

    def amdsmi_get_gpu_process_list(self, handle):
        return self._answer("processes", [{"pid": pid} for pid in self.pids])


@pytest.fixture
def clock():
    return VirtualClock()


@pytest.fixture
def install(monkeypatch, clock):
    def put(*watts):
        fake = FakeAmdsmi(clock, *watts)
        monkeypatch.setattr(amd, "_amdsmi", lambda: fake)
        return fake

    return put


def columns_of(meter, clock):
    readings = []
    for _ in range(51):
        clock.pass_s(0.2)
        readings.append(meter.read())
    return Trace(tuple(readings), readings[0].t_s, 0.0).columns()


def test_counter_and_power_agree_on_2000_joules(install, clock):
    install()
    meter = AmdMeter(environ={}, clock=clock)
    columns = columns_of(meter, clock)
    assert metrics.counter_energy_j(columns["gpu_energy_mj"]).joules == pytest.approx(2000, rel=1e-4)
    assert metrics.integrate_power_j(columns["t_s"], columns["gpu_power_w"]) == pytest.approx(2000)
    assert columns["power_field"] == "socket"
    info = meter.info()
    assert (info.energy_source, info.energy_boundary, info.device_name) == ("amdsmi", "gpu_board", "AMD Instinct MI210")
    assert (info.power_limit_w, info.stock_power_limit_w, info.vram_gb) == (300, 300, 64)


def test_the_selected_boards_alone_are_summed(install, clock):
    install(200, 300, 500)
    assert AmdMeter("0,2", environ={}, clock=clock).read().gpu_power_w == 700
    assert AmdMeter(environ={"HIP_VISIBLE_DEVICES": "1"}, clock=clock).read().gpu_power_w == 300
    assert AmdMeter("10ff", environ={}, clock=clock).read().gpu_power_w == 300


def test_two_cards_that_share_one_identifier_are_both_counted(install, clock, monkeypatch):
    fake = install(200, 300)
    monkeypatch.setattr(fake, "amdsmi_get_gpu_device_uuid", lambda handle: "00ff744c-0000-1000-8000-000000000000")
    assert AmdMeter("0,1", environ={}, clock=clock).read().gpu_power_w == 500


@pytest.mark.parametrize("name", ["N/A", ""])
def test_unlike_cards_without_a_name_are_not_called_alike(install, clock, name):
    fake = install(200, 300)
    fake.amdsmi_get_gpu_asic_info = lambda handle: {"market_name": name, "device_id": f"0x164{handle}"}
    assert AmdMeter("0", environ={}, clock=clock).info().device_name == "AMD GPU 0x1640"
    assert AmdMeter("1", environ={}, clock=clock).info().device_name == "AMD GPU 0x1641"


def test_graphics_of_the_processor_that_answer_nothing_hide_no_card(install, clock):
    fake = install(300, 15)
    fake.fails["uuid 1"] = FakeAmdsmi.AmdSmiException("AMDSMI_STATUS_NOT_SUPPORTED")
    assert AmdMeter(environ={}, clock=clock).read().gpu_power_w == 300
    fake.fails["uuid 0"] = FakeAmdsmi.AmdSmiException("AMDSMI_STATUS_NOT_SUPPORTED")
    with pytest.raises(MeterUnavailable, match="NOT_SUPPORTED"):
        AmdMeter(environ={}, clock=clock)


@pytest.mark.parametrize(("hip_ids", "watts"), [((1, 0), 300), ((0, 1), 200), (("N/A", 0), 300), (("N/A", "N/A"), 200)])
def test_hips_own_order_decides_what_its_variable_counts(install, clock, hip_ids, watts):
    fake = install(200, 300)
    fake.amdsmi_get_gpu_enumeration_info = lambda handle: {"hip_id": hip_ids[handle]}
    assert AmdMeter(environ={"HIP_VISIBLE_DEVICES": "0"}, clock=clock).read().gpu_power_w == watts
    assert AmdMeter("0", environ={"HIP_VISIBLE_DEVICES": "1"}, clock=clock).read().gpu_power_w == 200


@pytest.mark.parametrize("variable", ["ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"])
def test_an_index_into_what_another_variable_left_is_refused(install, clock, variable):
    install(200, 300)
    environ = {variable: "1", "HIP_VISIBLE_DEVICES": "0"}
    with pytest.raises(DeviceNotFound, match=f"{variable}.*--device"):
        AmdMeter(environ=environ, clock=clock)
    assert AmdMeter("1", environ=environ, clock=clock).read().gpu_power_w == 300
    install(200)
    assert AmdMeter(environ=environ, clock=clock).read().gpu_power_w == 200


@pytest.mark.parametrize(
    ("call", "channel"),
    [
        ("energy", "gpu_energy_mj"),
        ("power", "gpu_power_w"),
        ("activity", "gpu_util_pct"),
        ("vram", "gpu_mem_used_mib"),
        ("temperature", "gpu_temp_c"),
        ("clock", "sm_clock_mhz"),
    ],
)
@pytest.mark.parametrize("problem", ["N/A", FakeAmdsmi.AmdSmiException("AMDSMI_STATUS_NOT_SUPPORTED")])
def test_each_channel_fails_alone_with_a_reason(install, clock, call, channel, problem):
    install().fails[call] = problem
    meter = AmdMeter(environ={}, clock=clock)
    reading = meter.read()
    assert getattr(reading, channel) is None
    assert str(problem) in meter.info().reasons[channel]
    assert (reading.gpu_power_w or reading.gpu_energy_mj) is not None
    assert meter.info().energy_source == "amdsmi"


@pytest.mark.parametrize(
    ("fields", "power_field"),
    [
        ({"current_socket_power": None, "average_socket_power": "N/A"}, "current_socket"),
        ({"current_socket_power": "N/A", "average_socket_power": None}, "average_socket"),
        ({"current_socket_power": 0xFFFF, "average_socket_power": None}, "average_socket"),
        ({"current_socket_power": 0, "average_socket_power": None}, "average_socket"),
        ({"socket_power": "N/A", "current_socket_power": None, "average_socket_power": 1}, "current_socket"),
    ],
)
def test_each_release_of_the_library_has_its_own_power_field(install, clock, fields, power_field):
    install().power_fields = fields
    meter = AmdMeter(environ={}, clock=clock)
    reading = meter.read()
    assert (reading.gpu_power_w, reading.power_field) == (200, power_field)
    assert "gpu_power_w" not in meter.info().reasons


def test_the_power_field_does_not_change_in_mid_run(install, clock):
    fake = install()
    fake.power_fields = {"current_socket_power": None, "average_socket_power": 7}
    meter = AmdMeter(environ={}, clock=clock)
    fake.power_fields = {"current_socket_power": "N/A", "average_socket_power": 7}
    assert (meter.read().gpu_power_w, meter.read().power_field) == (None, None)
    fake.power_fields = {"current_socket_power": None, "average_socket_power": 7}
    assert (meter.read().gpu_power_w, meter.read().power_field) == (200, "current_socket")


def test_without_any_power_field_the_energy_is_still_counted(install, clock):
    install().power_fields = {"gfx_voltage": 800}
    meter = AmdMeter(environ={}, clock=clock)
    reading = meter.read()
    assert reading.gpu_power_w is None
    assert reading.gpu_energy_mj is not None
    assert "socket_power" in meter.info().reasons["gpu_power_w"]


@pytest.mark.parametrize(
    ("call", "channel"),
    [
        ("amdsmi_get_gpu_process_list", "other_processes"),
        ("amdsmi_get_gpu_driver_info", "driver_version"),
        ("amdsmi_get_gpu_vram_usage", "vram_gb"),
    ],
)
def test_what_a_release_of_the_library_leaves_out_is_missing_alone(install, clock, monkeypatch, call, channel):
    fake = install()
    monkeypatch.setattr(fake, call, lambda handle: [{}] if "list" in call else {}, raising=False)
    meter = AmdMeter(environ={}, clock=clock)
    assert meter.read().gpu_power_w == 200
    assert "does not tell" in meter.info().reasons[channel]


@pytest.mark.parametrize(("call", "channel"), [("energy", "gpu_energy_mj"), ("power", "gpu_power_w")])
def test_zero_is_no_reading(install, clock, call, channel):
    fake = install()
    fake.watts = (0,)
    assert getattr(AmdMeter(environ={}, clock=clock).read(), channel) is None


def test_a_card_without_energy_and_power_has_no_source(install, clock):
    install().fails.update(energy="N/A", power="N/A")
    assert AmdMeter(environ={}, clock=clock).info().energy_source is None


def test_a_stranger_on_the_card_is_counted(install, clock, monkeypatch):
    monkeypatch.setattr(processes, "in_container", lambda: False)
    install().pids = [999_999_991, 999_999_992]
    assert AmdMeter(environ={}, clock=clock, own_pids={999_999_991}).read().other_processes == 1


def test_without_the_library_it_is_unavailable_and_prints_nothing(monkeypatch, capsys):
    def missing():
        raise KeyError("libamd_smi.so")

    monkeypatch.setattr(amd, "_amdsmi", missing)
    with pytest.raises(MeterUnavailable, match=r"amd-smi-lib.*\[amd\]"):
        AmdMeter(environ={})
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("call", ["init", "handles"])
def test_a_driver_that_does_not_answer_makes_it_unavailable(install, call):
    install().fails[call] = FakeAmdsmi.AmdSmiException("AMDSMI_STATUS_DRIVER_NOT_LOADED")
    with pytest.raises(MeterUnavailable, match="DRIVER_NOT_LOADED"):
        AmdMeter(environ={})
