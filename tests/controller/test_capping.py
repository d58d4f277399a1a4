"""A job under a power cap: only where the owner allows it, put back whatever happens, and never required."""

import os
import signal
from dataclasses import replace

import pynvml
import pytest
from asyncenergy_controller.bench.machine import node_entry
from asyncenergy_controller.capping import capped
from asyncenergy_controller.meters.gpu_writes import READ_ONLY
from asyncenergy_controller.meters.nvml import NvmlMeter
from asyncenergy_controller.meters.power_journal import Journal
from asyncenergy_controller.server import ServerClient
from asyncenergy_controller.server import client as server_client

from tests.controller.bench_server import fake_server
from tests.controller.fakes_nvml import FakeBoard, FakeNvml, install
from tests.controller.report_server import report_server, settings_for, slow

pytestmark = pytest.mark.usefixtures("writable")
ALLOWED = {"apply_power_cap": True, "power_cap_policy": "managed"}
NODES = "/api/v1/bench/nodes"


@pytest.fixture
def server():
    with fake_server() as fake:
        yield fake


@pytest.fixture
def board():
    return FakeBoard()


@pytest.fixture
def nvml(monkeypatch, tmp_path, board):
    return install(monkeypatch, FakeNvml(board, state=tmp_path / "card.json"))


@pytest.fixture
def info(nvml):
    return NvmlMeter(environ={}).info()


@pytest.fixture
def settings(server, tmp_path):
    return settings_for(server, tmp_path, **ALLOWED)


@pytest.fixture
def client(settings):
    with ServerClient(settings, attempts=1) as client:
        yield client


def cap_path(settings, info):
    return f"{NODES}/{node_entry(settings.config_dir, info)['node_hash']}/recommended-cap"


@pytest.fixture
def recommended(server, settings, info):
    def recommend(cap_w):
        server.will(cap_path(settings, info), (200, {"recommended_cap_w": cap_w, "source": "own_runs"}))

    recommend(450.0)
    return recommend


def test_the_recommended_cap_holds_for_the_job_and_goes_with_it(client, settings, info, nvml, board, recommended):
    with capped(client, settings, info) as cap:
        assert (cap.cap_w, cap.reason) == (450.0, None)
        assert nvml.limit_w(board) == 450
        assert Journal(settings.power_journal_dir).read(board.uuid).restore_mw == 700_000
    assert nvml.limit_w(board) == 700
    assert list(settings.power_journal_dir.glob("*.json")) == []


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_job_that_fails_is_put_back_and_its_error_goes_on(client, settings, info, nvml, board, recommended, error):
    with pytest.raises(error), capped(client, settings, info):
        raise error
    assert nvml.limit_w(board) == 700


def test_a_limit_that_its_owner_had_set_gives_way_to_the_factory_default(
    client, settings, info, nvml, board, recommended
):
    nvml.nvmlDeviceSetPowerManagementLimit(board, 500_000)
    with capped(client, settings, info):
        assert nvml.limit_w(board) == 450
    assert nvml.limit_w(board) == 700


def test_the_cap_that_a_job_was_planned_with_needs_no_server(client, settings, info, nvml, board, server):
    with capped(client, settings, info, planned_w=300.0) as cap:
        assert cap.cap_w == nvml.limit_w(board) == 300
    assert server.asked == []


def test_a_cap_over_two_boards_is_shared_by_them(monkeypatch, tmp_path, client, settings):
    boards = [FakeBoard(), FakeBoard(uuid="GPU-22222222-aaaa-bbbb-cccc-000000000000")]
    nvml = install(monkeypatch, FakeNvml(*boards, state=tmp_path / "card.json"))
    both = settings.model_copy(update={"device": "all"})
    with capped(client, both, NvmlMeter("all", environ={}).info(), planned_w=900.0) as cap:
        assert cap.cap_w == 900
        assert [nvml.limit_w(board) for board in boards] == [450, 450]
    assert [nvml.limit_w(board) for board in boards] == [700, 700]


def assert_uncapped(client, settings, info, nvml, reason):
    done = []
    with capped(client, settings, info) as cap:
        done.append(True)
        assert cap.cap_w is None
        assert reason in cap.reason
        assert nvml.limit_w(nvml.boards[0]) == 700
    assert done == [True]
    assert nvml.limit_w(nvml.boards[0]) == 700
    assert nvml.calls["nvmlDeviceSetPowerManagementLimit"] == 0


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"apply_power_cap": False}, "apply_power_cap is off"),
        ({"power_cap_policy": "preserve"}, "power_cap_policy is preserve"),
    ],
)
def test_without_the_owners_word_nothing_is_asked_and_nothing_changed(
    client, settings, info, nvml, server, values, reason
):
    assert_uncapped(client, settings.model_copy(update=values), info, nvml, reason)
    assert server.asked == []


def test_a_machine_that_is_read_only_is_not_touched(client, settings, info, nvml, recommended, monkeypatch):
    monkeypatch.setenv(READ_ONLY, "1")
    assert_uncapped(client, settings, info, nvml, READ_ONLY)


@pytest.mark.parametrize(("cap_w", "reason"), [(None, "no power sweep"), (701.0, "outside"), (50.0, "outside")])
def test_a_cap_above_stock_or_below_the_lowest_is_not_applied(client, settings, info, nvml, recommended, cap_w, reason):
    recommended(cap_w)
    assert_uncapped(client, settings, info, nvml, reason)


@pytest.mark.parametrize("answer", [(500, b"boom"), (503, {"detail": "busy"}), (403, {"detail": "No.", "code": "x"})])
def test_a_server_that_fails_costs_the_cap_alone(client, settings, info, nvml, server, answer):
    server.will(cap_path(settings, info), answer)
    assert_uncapped(client, settings, info, nvml, "")


def test_a_moment_without_the_server_costs_no_cap(client, settings, info, nvml, server):
    busy = (503, {"detail": "busy"})
    server.will(cap_path(settings, info), busy, (200, {"recommended_cap_w": 450.0, "source": "own_runs"}))
    with capped(client, settings, info) as cap:
        assert cap.cap_w == 450


def test_a_server_that_is_not_there_costs_the_cap_alone(tmp_path, info, nvml):
    away = settings_for("http://127.0.0.1:9", tmp_path, **ALLOWED)
    with ServerClient(away, attempts=1) as client:
        assert_uncapped(client, away, info, nvml, "can't be reached")


def test_a_job_waits_only_a_little_for_a_server_that_does_not_answer(tmp_path, info, nvml, monkeypatch, caplog):
    monkeypatch.setattr(server_client, "CAP_WITHIN_S", 0.1)
    with report_server() as hanging:
        hanging.always = slow(0.4)
        patient = settings_for(hanging, tmp_path, **ALLOWED)
        with ServerClient(patient, attempts=1) as client:
            assert_uncapped(client, patient, info, nvml, "no answer within 0.1 s")
    assert "No power cap: " in caplog.text


def test_hardware_that_the_server_does_not_know_is_named_and_asked_for_again(
    client, settings, info, nvml, board, server
):
    unknown = (404, {"detail": "No such node.", "code": "not_found"})
    server.will(cap_path(settings, info), unknown, (200, {"recommended_cap_w": 450.0, "source": "gpu_class"}))
    server.will(NODES, (201, {"status": "ok"}))
    with capped(client, settings, info) as cap:
        assert cap.cap_w == 450
    (named,) = server.at(NODES)
    assert named.json["gpu_name"] == "NVIDIA H200"
    assert named.json.keys() == {"node_hash", "cpu_model", "ram_gb", "gpu_name", "driver_version", "vram_gb"}


def test_a_card_that_may_not_be_changed_costs_the_cap_alone(client, settings, info, nvml, board, recommended):
    board.fails["nvmlDeviceSetPowerManagementLimit"] = pynvml.NVML_ERROR_NO_PERMISSION
    with capped(client, settings, info) as cap:
        assert "root may do it" in cap.reason
    assert nvml.limit_w(board) == 700


def test_a_machine_without_a_card_of_nvidia_is_not_touched(client, settings, info, nvml):
    assert_uncapped(client, settings, replace(info, meter="rapl"), nvml, "meter rapl")


def test_a_journal_that_can_not_be_written_costs_the_cap_alone(client, settings, info, nvml, recommended):
    settings.state_dir.mkdir(parents=True, exist_ok=True)
    settings.power_journal_dir.write_text("no folder")
    assert_uncapped(client, settings, info, nvml, str(settings.power_journal_dir))


def test_a_limit_that_can_not_be_put_back_fails_no_job_and_is_healed_next_time(
    client, settings, info, nvml, board, recommended, caplog
):
    with capped(client, settings, info):
        board.fails["nvmlDeviceSetPowerManagementLimit"] = pynvml.NVML_ERROR_UNKNOWN
    assert caplog.records
    assert nvml.limit_w(board) == 450
    board.fails.clear()
    forget_the_process(settings, board)
    with capped(client, settings, info) as cap:
        assert cap.cap_w == 450
    assert nvml.limit_w(board) == 700


def forget_the_process(settings, board):
    """As if the process that wrote the journal were gone."""
    journal = Journal(settings.power_journal_dir)
    journal.write(replace(journal.read(board.uuid), pid_mark="another-boot 1"))


def test_after_a_kill_in_the_middle_the_next_job_heals_the_card_first(client, settings, info, nvml, board, recommended):
    pid = os.fork()
    if pid == 0:
        with capped(client, settings, info, planned_w=300.0):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    assert nvml.limit_w(board) == 300
    with capped(client, settings, info) as cap:
        assert (cap.cap_w, nvml.limit_w(board)) == (450.0, 450)
    assert nvml.limit_w(board) == 700
