"""`doctor` from the command line: one line each, with what to do, and a result that goes into bundles."""

import json
import time

import httpx2
import pytest
from asyncenergy_controller.doctor import examination
from asyncenergy_controller.errors import ExitCode
from asyncenergy_controller.wire import find_private

from tests.controller import fakes_nvml
from tests.controller.bench_cli import Box
from tests.controller.bench_engine import bench_engine
from tests.controller.fakes_plugs import Answer, FakePlug
from tests.controller.test_meter_amd import FakeAmdsmi

pytestmark = pytest.mark.usefixtures("no_downloads")


@pytest.fixture
def no_downloads(monkeypatch):
    monkeypatch.setattr("asyncenergy_controller.doctor.examination.DATASET_TASKS", ("arith",))


@pytest.fixture
def engine():
    with bench_engine() as fake:
        fake.delay_s = 0.02
        yield fake


@pytest.fixture
def plug():
    fake = FakePlug()
    yield fake
    fake.close()


def states(report):
    return {check["name"]: check["state"] for check in report["checks"]}


def named(report, name):
    return [check for check in report["checks"] if check["name"] == name][-1]


@pytest.mark.campaign
def test_a_healthy_card_is_described_and_its_sensor_goes_into_the_next_bundle(tmp_path, engine, monkeypatch):
    board = fakes_nvml.FakeBoard(energy_j=fakes_nvml.flat(250), counter_period_s=0.025)
    fakes_nvml.install(monkeypatch, fakes_nvml.FakeNvml(board, clock=time.monotonic))
    box = Box(tmp_path, engine.url)
    report = box.json("doctor", "--meter", "nvml", "--seconds", "0.3")
    found = states(report)
    assert {found[name] for name in ("engine", "meter", "meter nvml", "pace", "drift idle", "drift loaded")} == {"ok"}
    assert report["sensor"]["counter_period_s"] == pytest.approx(0.025, abs=0.008)
    assert find_private(report["sensor"]) is None
    box.run("bench", "smoke", "--items", 3, "--meter", "nvml")
    assert json.loads(box.last.bundle_path.read_text())["runs"][0]["sensor"] == report["sensor"]


@pytest.fixture
def two_cards(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    boards = [
        fakes_nvml.FakeBoard(uuid=f"GPU-{i}", energy_j=fakes_nvml.flat(250), counter_period_s=0.025) for i in range(2)
    ]
    fakes_nvml.install(monkeypatch, fakes_nvml.FakeNvml(*boards, clock=time.monotonic))


def test_with_two_cards_the_chosen_one_is_described(tmp_path, engine, two_cards):
    report = Box(tmp_path, engine.url).json("doctor", "--meter", "nvml", "--device", "0", "--seconds", "0.3")
    found = states(report)
    assert {found[name] for name in ("engine", "meter", "meter nvml")} == {"ok"}
    assert found["data arith"] == "ok"
    kept = json.loads((tmp_path / "data" / "sensor.json").read_text())
    assert (kept, kept["meter"]) == (report["sensor"], "nvml")


def test_with_two_cards_and_no_choice_the_report_is_whole_and_says_what_to_choose(tmp_path, engine, two_cards):
    report = Box(tmp_path, engine.url).json("doctor", "--meter", "nvml", code=ExitCode.NO_METER)
    found = {check["name"]: check for check in report["checks"]}
    assert (found["meter nvml"]["state"], found["meter"]["state"], found["data arith"]["state"]) == (
        "skip",
        "fail",
        "ok",
    )
    assert "2 GPUs" in found["meter nvml"]["found"]


def test_without_a_meter_each_kind_says_why_and_the_code_is_no_meter(tmp_path, engine):
    report = Box(tmp_path, engine.url).json("doctor", "--meter", "null", code=ExitCode.NO_METER)
    found = states(report)
    assert (found["engine"], found["meter"], found["meter nvml"]) == ("ok", "fail", "skip")
    assert report["sensor"] == {}


def test_without_an_engine_the_code_is_no_engine_and_the_meter_is_still_described(tmp_path):
    result = Box(tmp_path, "http://127.0.0.1:9").run("doctor", "--meter", "simulated", "--seconds", "0.3")
    assert result.exit_code == ExitCode.NO_ENGINE
    assert "fail  engine" in result.stdout
    assert "--engine-url" in result.stdout
    assert "drift idle" in result.stdout


def test_a_sensor_of_another_device_stays_out_of_the_bundle(tmp_path, engine):
    box = Box(tmp_path, engine.url)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "sensor.json").write_text(
        '{"meter": "nvml", "device_name": "NVIDIA L4", "alias_spread_pct": 9}'
    )
    box.run("bench", "smoke", "--items", 3)
    assert "alias_spread_pct" not in json.loads(box.last.bundle_path.read_text())["runs"][0]["sensor"]


def test_without_a_network_data_sets_are_skipped_and_the_report_is_whole(tmp_path, engine, monkeypatch):
    asked = []

    def no_route(repo, **options):
        asked.append(options)
        raise httpx2.ConnectError("[Errno -3] Temporary failure in name resolution")

    monkeypatch.setattr("huggingface_hub.dataset_info", no_route)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "empty"))
    monkeypatch.setattr("asyncenergy_controller.doctor.examination.DATASET_TASKS", ("gsm8k_platinum", "ifeval"))
    report = Box(tmp_path, engine.url).json("doctor", "--meter", "null", code=ExitCode.NO_METER)
    found = {check["name"]: check for check in report["checks"] if check["name"].startswith("data ")}
    assert {name: check["state"] for name, check in found.items()} == {
        "data gsm8k_platinum": "skip",
        "data ifeval": "skip",
        "data hub": "warn",
    }
    assert "--dataset-dir" in found["data ifeval"]["advice"]
    assert "--dataset-dir" in found["data hub"]["found"]
    assert len(asked) == 1
    assert asked[0]["timeout"] <= 5


def test_what_is_not_here_but_on_the_hub_is_not_downloaded(tmp_path, engine, monkeypatch):
    monkeypatch.setattr("huggingface_hub.dataset_info", lambda repo, **options: None)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "empty"))
    monkeypatch.setattr("asyncenergy_controller.doctor.examination.DATASET_TASKS", ("ifeval",))
    report = Box(tmp_path, engine.url).json("doctor", "--meter", "null", code=ExitCode.NO_METER)
    assert states(report) | {"data ifeval": "skip", "data hub": "ok"} == states(report)


def test_a_plug_that_gives_nothing_is_not_reported_as_no_plug(tmp_path, engine, plug):
    plug.answer = Answer(status=401)
    wall = ("--wall", f"tasmota:{plug.address}")
    for meter, code in (("simulated", ExitCode.OK), ("null", ExitCode.NO_METER)):
        report = Box(tmp_path, engine.url).json("doctor", "--meter", meter, "--seconds", "0.3", *wall, code=code)
        found = named(report, "wall")
        assert (found["state"], "wants a password" in found["found"]) == ("warn", True)
        assert "--wall" in found["advice"]


def test_whatever_is_not_well_comes_with_what_to_do(tmp_path, engine, plug):
    plug.answer = Answer('{"apower": 250.0}')
    command = ("doctor", "--meter", "simulated", "--seconds", "0.1", "--wall", f"shelly:{plug.address}")
    report = Box(tmp_path, engine.url).json(*command)
    unwell = {check["name"]: check["advice"] for check in report["checks"] if check["state"] in ("warn", "fail")}
    assert {"meter", "pace", "wall"} <= unwell.keys()
    assert all(unwell.values())


def test_a_plug_is_described_without_an_engine_too(tmp_path, plug):
    plug.answer = Answer('{"apower": 250.0}')
    box = Box(tmp_path, "http://127.0.0.1:9")
    command = ("doctor", "--meter", "simulated", "--seconds", "0.3", "--wall", f"shelly:{plug.address}")
    found = named(box.json(*command, code=ExitCode.NO_ENGINE), "wall")
    assert "reading" in found["found"]
    assert "0 W" not in found["found"]
    assert "--seconds" in found["advice"]


def test_an_engine_that_fails_under_load_leaves_a_whole_report(tmp_path, engine):
    engine.fails_from = 2
    command = ("doctor", "--meter", "simulated", "--seconds", "0.3")
    report = Box(tmp_path, engine.url).json(*command, code=ExitCode.NO_ENGINE)
    assert "under load" in named(report, "engine")["found"]
    assert states(report) | {"drift idle": "ok", "data arith": "ok"} == states(report)


def test_a_gpu_without_energy_is_not_reported_as_a_meter(tmp_path, engine, monkeypatch):
    fails = dict.fromkeys(("nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetPowerUsage", "average", "instant"), 3)
    board = fakes_nvml.FakeBoard(name="NVIDIA A100-10C", fails=fails)
    fakes_nvml.install(monkeypatch, fakes_nvml.FakeNvml(board, clock=time.monotonic))
    report = Box(tmp_path, engine.url).json("doctor", "--meter", "nvml", code=ExitCode.NO_METER)
    for name, state in (("meter nvml", "skip"), ("meter", "fail")):
        assert named(report, name)["state"] == state
        assert "not supported by this GPU" in named(report, name)["found"]
        assert "instant" not in named(report, name)["found"]


@pytest.mark.parametrize(("caps", "state"), [("00000000a80425fb", "skip"), ("000001ffffffffff", "ok")])
def test_the_root_of_a_container_is_not_taken_for_that_of_the_machine(tmp_path, engine, monkeypatch, caps, state):
    fakes_nvml.install(monkeypatch, fakes_nvml.FakeNvml(clock=time.monotonic))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(examination, "PROCESS_STATUS", tmp_path / "status")
    (tmp_path / "status").write_text(f"Name:\tpython\nCapEff:\t{caps}\nCapBnd:\t000001ffffffffff\n")
    report = Box(tmp_path, engine.url).json("doctor", "--meter", "nvml", "--seconds", "0.1")
    found = named(report, "power limit")
    assert (found["state"], "--cap-add SYS_ADMIN" in found["found"]) == (state, state == "skip")


def test_a_meter_that_opens_and_measures_nothing_is_no_meter(tmp_path, engine, monkeypatch):
    stuck = fakes_nvml.FakeBoard(energy_j=fakes_nvml.flat(0))
    fakes_nvml.install(monkeypatch, fakes_nvml.FakeNvml(stuck, clock=time.monotonic))
    report = Box(tmp_path, engine.url).json("doctor", "--meter", "nvml", "--seconds", "0.3", code=ExitCode.NO_METER)
    assert states(report) | {"meter": "ok", "drift idle": "fail"} == states(report)


def test_beside_a_metered_amd_gpu_no_other_cards_limit_is_spoken_of(tmp_path, engine, monkeypatch):
    monkeypatch.setattr("asyncenergy_controller.meters.amd._amdsmi", lambda: FakeAmdsmi(time.monotonic))
    fakes_nvml.install(monkeypatch, fakes_nvml.FakeNvml(clock=time.monotonic))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    report = Box(tmp_path, engine.url).json("doctor", "--meter", "amd", "--seconds", "0.3")
    assert (named(report, "power limit")["state"], report["sensor"]["meter"]) == ("skip", "amd")
    assert "no NVIDIA GPU is metered" in named(report, "power limit")["found"]
