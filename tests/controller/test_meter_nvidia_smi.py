"""nvidia-smi as the fall-back: one long-lived process, its lines taken at the time they came."""

import json
import sys
import time

import psutil
import pytest
from asyncenergy_controller import metrics
from asyncenergy_controller.errors import DeviceNotFound, MeterUnavailable
from asyncenergy_controller.meters import nvidia_smi
from asyncenergy_controller.meters.nvidia_smi import NvidiaSmiMeter
from asyncenergy_controller.sampler import Sampler

ONE = "GPU 0: NVIDIA H200 (UUID: GPU-0a11aaaa-1111-2222-3333-444455556666)\n"
SLICED = ONE + "  MIG 1g.18gb     Device  0: (UUID: MIG-1c00f5a3-1111-2222-3333-444455556666)\n"
TWO = SLICED + "GPU 1: NVIDIA GeForce RTX 3090 (UUID: GPU-9999bbbb-1111-2222-3333-444455556666)\n"
H200 = {
    "index": "0",
    "power.draw.average": "83.71",
    "power.draw.instant": "84.85",
    "power.draw": "83.71",
    "utilization.gpu": "12",
    "utilization.memory": "3",
    "memory.used": "1532",
    "memory.total": "143771",
    "temperature.gpu": "43",
    "clocks.sm": "1980",
    "driver_version": "580.159.04",
    "power.limit": "700.00",
    "power.default_limit": "700.00",
}
TOOL = """#!{python} -SE
import json, sys, time
card = json.load(open({card!r}))
arguments = dict(word.lstrip("-").partition("=")[::2] for word in sys.argv[1:])
if "L" in arguments:
    time.sleep(card["wait_s"])
    print(card["list"], end="")
    sys.exit(card["exit"])
fields = arguments["query-gpu"].split(",")
chosen = [board for board in card["boards"] if board["index"] in arguments["id"].split(",")]
for field in fields:
    if field not in chosen[0]:
        print(f'Field "{{field}}" is not a valid field to query.')
        sys.exit(2)
for _ in range(card["rounds"] if "loop-ms" in arguments else 1):
    print(card["aside"], end="", flush=True)
    for board in chosen:
        print(", ".join(board[field] for field in fields), flush=True)
    time.sleep(0.02)
sys.exit(card["end"] if "loop-ms" in arguments else 0)
"""


@pytest.fixture
def smi(monkeypatch, tmp_path):
    """Put a fake nvidia-smi on the path; its answers are in a file."""
    card = {"list": ONE, "boards": [dict(H200)], "rounds": 500, "exit": 0, "end": 0, "wait_s": 0, "aside": ""}
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(TOOL.format(python=sys.executable, card=str(tmp_path / "card.json")))
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent))
    meters = []

    def open_meter(device=None, **changes):
        (tmp_path / "card.json").write_text(json.dumps(card | changes))
        meters.append(NvidiaSmiMeter(device, environ={}))
        return meters[-1]

    yield open_meter
    for meter in meters:
        meter.close()


def next_reading(meter):
    """Wait for a line, as a steady sampler does."""
    end_s = time.monotonic() + 5
    while time.monotonic() < end_s:
        reading = meter.read()
        if reading.gpu_temp_c is not None:
            return reading
        time.sleep(0.01)
    raise AssertionError("no line came")


def test_every_channel_is_read_and_the_power_field_is_named(smi):
    meter = smi()
    reading = next_reading(meter)
    assert (reading.gpu_power_w, reading.power_field, reading.gpu_power_instant_w) == (83.71, "average", 84.85)
    assert (reading.gpu_util_pct, reading.gpu_mem_util_pct, reading.gpu_mem_used_mib) == (12, 3, 1532)
    assert (reading.gpu_temp_c, reading.sm_clock_mhz, reading.gpu_energy_mj) == (43, 1980, None)
    info = meter.info()
    assert (info.energy_source, info.device_name, info.driver_version) == ("integrated", "NVIDIA H200", "580.159.04")
    assert (info.power_limit_w, info.stock_power_limit_w, round(info.vram_gb, 1)) == (700, 700, 140.4)
    assert "no energy counter" in info.reasons["gpu_energy_mj"]


def test_an_older_driver_gives_its_default_power(smi):
    old = {name: value for name, value in H200.items() if "average" not in name and "instant" not in name}
    meter = smi(boards=[old])
    reading = next_reading(meter)
    assert (reading.gpu_power_w, reading.power_field, reading.gpu_power_instant_w) == (83.71, "default", None)
    assert meter.info().reasons["gpu_power_instant_w"]


@pytest.mark.parametrize("average", ["[N/A]", "[Not Supported]", "0.00"])
def test_an_older_board_under_a_new_driver_gives_its_default_power(smi, average):
    meter = smi(boards=[H200 | {"power.draw.average": average, "power.draw": "61.20"}])
    reading = next_reading(meter)
    assert (reading.gpu_power_w, reading.power_field, reading.gpu_power_instant_w) == (61.2, "default", 84.85)


def test_a_loop_that_is_slow_to_begin_has_its_source_from_the_start(smi, monkeypatch):
    monkeypatch.setattr(nvidia_smi, "STALE_S", 0)
    assert smi(rounds=0).info().energy_source == "integrated"


def test_a_board_without_any_power_has_no_source(smi):
    meter = smi(boards=[H200 | {"power.draw.average": "[N/A]", "power.draw": "[N/A]"}])
    assert meter.info().energy_source is None
    assert "power.draw" in meter.info().reasons["gpu_power_w"]


@pytest.mark.parametrize("aside", ["\n", "WARNING: infoROM is corrupted at gpu 0000:65:00.0\n"])
def test_what_the_tool_says_beside_its_rows_is_passed_over(smi, aside):
    meter = smi("all", list=TWO, boards=[H200, H200 | {"index": "1"}], aside=aside)
    assert next_reading(meter).gpu_power_w == pytest.approx(2 * 83.71)


def test_numbers_with_a_decimal_comma_are_never_read_as_other_cells(smi):
    with pytest.raises(MeterUnavailable, match="580.159.04, 700,00"):
        smi(boards=[{name: value.replace("0.00", "0,00") for name, value in H200.items()}])


def test_a_line_is_handed_on_once_and_at_its_own_time(smi):
    meter = smi(rounds=1)
    first = next_reading(meter)
    second = meter.read()
    assert second.gpu_power_w is None
    assert second.t_s > first.t_s


@pytest.mark.parametrize("answer", ["[N/A]", "[Unknown Error]", "0.00", "nan", "-5.00", ""])
def test_what_is_no_power_is_null_with_the_answer_as_reason(smi, answer):
    meter = smi(boards=[H200 | {"power.draw.average": answer, "power.draw": answer}])
    reading = next_reading(meter)
    assert (reading.gpu_power_w, reading.power_field) == (None, None)
    assert reading.gpu_power_instant_w == 84.85
    assert repr(answer) in meter.info().reasons["gpu_power_w"]


def test_two_selected_boards_are_summed(smi):
    meter = smi("all", list=TWO, boards=[H200, H200 | {"index": "1", "power.draw.average": "100.00"}])
    assert next_reading(meter).gpu_power_w == pytest.approx(183.71)
    assert meter.info().device_count == 2


@pytest.mark.parametrize(("device", "watts"), [("1", 100), ("GPU-9999", 100), ("MIG-1c00", 83.71), ("GPU-0a11", 83.71)])
def test_only_the_selected_board_is_counted(smi, device, watts):
    meter = smi(device, list=TWO, boards=[H200, H200 | {"index": "1", "power.draw.average": "100.00"}])
    assert next_reading(meter).gpu_power_w == watts


def test_a_device_that_is_not_here_is_refused(smi):
    with pytest.raises(DeviceNotFound):
        smi("GPU-7", list=TWO)


def test_a_tool_that_ends_in_mid_run_gives_empty_readings_and_the_reason(smi):
    meter = smi(rounds=1, end=9)
    next_reading(meter)
    end_s = time.monotonic() + 5
    while "exit code 9" not in (meter.read(), meter.info().reasons["gpu_power_w"])[1] and time.monotonic() < end_s:
        time.sleep(0.01)
    assert "exit code 9" in meter.info().reasons["gpu_power_w"]


def test_closing_ends_the_process(smi):
    meter = smi()
    process = psutil.Process(meter._process.pid)
    meter.close()
    assert not process.is_running()


def test_a_steady_sampler_integrates_its_power(smi):
    meter = smi()
    next_reading(meter)  # the tool is up
    with Sampler(meter, 0.05) as sampler:
        time.sleep(0.5)
    columns = sampler.stop().columns()
    joules = metrics.integrate_power_j(columns["t_s"], columns["gpu_power_w"])
    assert columns["t_s"][-1] >= 0.5
    assert joules == pytest.approx(83.71 * columns["t_s"][-1], rel=0.3)


def test_without_the_tool_it_is_unavailable(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MeterUnavailable, match="not installed"):
        NvidiaSmiMeter()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"list": "NVIDIA-SMI has failed because it couldn't communicate", "exit": 9}, "communicate"),
        ({"list": "No devices were found\n"}, "lists no GPU"),
    ],
)
def test_a_tool_that_fails_is_unavailable_in_its_own_words(smi, changes, words):
    with pytest.raises(MeterUnavailable, match=words):
        smi(**changes)


def test_a_tool_that_hangs_is_given_up(smi, monkeypatch):
    monkeypatch.setattr(nvidia_smi, "CALL_LIMIT_S", 0.3)
    with pytest.raises(MeterUnavailable, match="timed out"):
        smi(wait_s=5)
