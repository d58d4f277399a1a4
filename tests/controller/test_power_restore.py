"""Putting cards back: each as far as it can be, whatever else fails, and one process at a time."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import pynvml
import pytest
from asyncenergy_controller.cli import app
from asyncenergy_controller.files import lock
from asyncenergy_controller.liveness import mark_of
from asyncenergy_controller.meters.gpu_writes import WriteRefused
from asyncenergy_controller.meters.power_journal import Entry, Journal
from asyncenergy_controller.meters.power_limit import PowerControl, heal_leftovers, put_back_ours
from typer.testing import CliRunner

from .fakes_nvml import FakeBoard, FakeNvml, install

pytestmark = pytest.mark.usefixtures("writable")
LOST = pynvml.NVML_ERROR_GPU_IS_LOST
DENIED = pynvml.NVML_ERROR_NO_PERMISSION


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "gpu-journal"


@pytest.fixture
def boards():
    return [FakeBoard(uuid="GPU-a", name="first"), FakeBoard(uuid="GPU-b", name="second")]


@pytest.fixture
def nvml(monkeypatch, tmp_path, boards):
    return install(monkeypatch, FakeNvml(*boards, state=tmp_path / "card.json"))


def control(folder, device="0"):
    return PowerControl(folder, device, environ={})


def files(folder):
    return sorted(path.name for path in folder.glob("*.json"))


def orphan(folder, uuid):
    """As if the process that changed the board were gone."""
    journal = Journal(folder)
    journal.write(replace(journal.read(uuid), pid_mark="another-boot 1"))


def test_a_card_that_is_gone_at_the_end_keeps_no_other_card_capped(nvml, boards, folder):
    power = control(folder, "all")
    power.set_limit_w(300)
    boards[0].fails["nvmlDeviceGetPowerManagementLimit"] = LOST
    with pytest.raises(WriteRefused, match="first.*the GPU is lost"):
        power.restore()
    assert nvml.limit_w(boards[1]) == 700
    assert files(folder) == ["GPU-a.json"]


def test_a_limit_that_is_not_put_back_says_so_and_what_to_type(nvml, boards, folder):
    power = control(folder)
    power.set_limit_w(300)
    boards[0].fails["nvmlDeviceSetPowerManagementLimit"] = DENIED
    with pytest.raises(WriteRefused) as refused:
        power.restore()
    assert "first could not be put back" in refused.value.message
    assert "sudo nvidia-smi -i GPU-a -pl 700" in refused.value.message


@pytest.mark.parametrize("code", [DENIED, pynvml.NVML_ERROR_NOT_SUPPORTED])
def test_a_clock_that_cannot_be_let_go_keeps_no_card_capped(nvml, boards, folder, code):
    power = control(folder)
    power.set_limit_w(300)
    power.lock_clock_mhz(1500)
    boards[0].fails["nvmlDeviceResetGpuLockedClocks"] = code
    with pytest.raises(WriteRefused):
        power.restore()
    assert (nvml.limit_w(boards[0]), files(folder)) == (700, ["GPU-a.json"])
    boards[0].fails.clear()
    power.restore()
    assert (nvml.clock_mhz(boards[0]), files(folder)) == (None, [])


def test_a_limit_that_cannot_be_put_back_keeps_no_clock_locked(nvml, boards, folder):
    power = control(folder)
    power.set_limit_w(300)
    power.lock_clock_mhz(1500)
    boards[0].fails["nvmlDeviceSetPowerManagementLimit"] = DENIED
    with pytest.raises(WriteRefused):
        power.restore()
    assert (nvml.clock_mhz(boards[0]), files(folder)) == (None, ["GPU-a.json"])


def test_a_limit_that_the_driver_made_of_ours_is_put_back_as_well(nvml, boards, folder):
    boards[0].clamp_mw = 400_000
    with control(folder) as power, pytest.raises(WriteRefused, match="keeps 400 W"):
        power.set_limit_w(300)
    assert (nvml.limit_w(boards[0]), files(folder)) == (700, [])


def test_a_limit_that_the_driver_sets_though_it_reports_an_error_is_put_back(nvml, boards, folder, monkeypatch):
    real = nvml.nvmlDeviceSetPowerManagementLimit

    def set_and_fail(board, limit_mw):
        real(board, limit_mw)
        if limit_mw == 300_000:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_TIMEOUT)

    monkeypatch.setattr(nvml, "nvmlDeviceSetPowerManagementLimit", set_and_fail, raising=False)
    with pytest.raises(WriteRefused):
        control(folder).set_limit_w(300)
    assert (nvml.limit_w(boards[0]), files(folder)) == (700, [])


def test_a_card_that_is_lost_while_it_is_changed_keeps_its_journal(nvml, boards, folder, monkeypatch):
    def lose(board, limit_mw):
        board.fails["nvmlDeviceGetPowerManagementLimit"] = LOST
        raise pynvml.NVMLError(LOST)

    monkeypatch.setattr(nvml, "nvmlDeviceSetPowerManagementLimit", lose, raising=False)
    with pytest.raises(WriteRefused, match="the GPU is lost"):
        control(folder).set_limit_w(300)
    assert files(folder) == ["GPU-a.json"]


def test_a_clock_that_was_left_locked_is_told_of(nvml, boards, folder):
    control(folder).lock_clock_mhz(1500)
    orphan(folder, "GPU-a")
    (healing,) = heal_leftovers(folder)
    assert healing.healed
    assert "clock" in healing.message
    assert nvml.clock_mhz(boards[0]) is None


@pytest.mark.parametrize("config_first", [True, False])
def test_a_card_is_healed_at_any_start_wherever_the_configuration_is_named(
    nvml, boards, folder, tmp_path, monkeypatch, config_first
):
    for name in ("STATE_DIR", "CONFIG_DIR"):
        monkeypatch.delenv(f"ASYNCENERGY_{name}", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "none"))
    (tmp_path / "config.toml").write_text(f"state_dir = {str(tmp_path / 'elsewhere')!r}\n")
    journal = tmp_path / "elsewhere" / "power"
    control(journal).set_limit_w(300)
    orphan(journal, "GPU-a")
    named = ["--config-dir", str(tmp_path)]
    command = ["bench", "list", "--data-dir", str(tmp_path)]
    result = CliRunner().invoke(app, [*named, *command] if config_first else [*command, *named])
    assert result.stderr.count("300 W and is 700 W again") == 1
    assert nvml.limit_w(boards[0]) == 700


def test_a_journal_that_cannot_be_cleared_stops_no_start(nvml, boards, folder, monkeypatch):
    control(folder).set_limit_w(300)
    orphan(folder, "GPU-a")

    def refused(path, **_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "unlink", refused)
    (healing,) = heal_leftovers(folder)
    assert not healing.healed
    assert "GPU-a.json" in healing.message
    assert nvml.limit_w(boards[0]) == 700


def test_one_process_changes_a_card_only_after_another_has_written_that_it_does(nvml, boards, folder):
    """Two that begin at the same moment would both find the journal empty."""
    folder.mkdir()
    held = lock(folder / ".lock")
    child = os.fork()
    if child == 0:
        held.close()  # the parent's still holds
        try:
            control(folder).set_limit_w(300)
        except WriteRefused as refused:
            os._exit(7 if refused.reason == "leftover" else 8)
        finally:
            os._exit(9)
    mark = mark_of(os.getpid())
    Journal(folder).write(Entry("GPU-a", "first", 700_000, 700_000, os.getpid(), 0.0, (300_000,), pid_mark=mark))
    held.close()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert nvml.limit_w(boards[0]) == 700


def test_a_killed_process_that_nobody_has_reaped_keeps_no_card_capped(nvml, boards, folder):
    """In a container whose first process reaps no children it stays a zombie for good."""
    child = os.fork()
    if child == 0:
        control(folder).set_limit_w(300)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert nvml.limit_w(boards[0]) == 300
    assert [one.healed for one in heal_leftovers(folder)] == [True]
    assert nvml.limit_w(boards[0]) == 700
    os.waitpid(child, 0)


def test_two_starts_heal_a_card_once(nvml, boards, folder):
    """The second finds it healed, and perhaps changed again by a run that has begun since."""
    control(folder).set_limit_w(300)
    orphan(folder, "GPU-a")
    held = lock(folder / ".lock")
    child = os.fork()
    if child == 0:
        held.close()
        os._exit(len(heal_leftovers(folder)))
    Journal(folder).clear("GPU-a")
    held.close()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert nvml.limit_w(boards[0]) == 300


def test_a_process_that_ends_at_once_puts_back_its_own_cards_alone(nvml, boards, folder):
    control(folder, "0").set_limit_w(300)
    orphan(folder, "GPU-a")
    control(folder, "1").set_limit_w(300)
    put_back_ours(folder)
    assert [nvml.limit_w(board) for board in boards] == [300, 700]
    assert files(folder) == ["GPU-a.json"]


def test_a_process_that_changed_nothing_asks_no_driver_at_its_end(nvml, folder):
    put_back_ours(folder)
    assert nvml.calls["nvmlInit"] == 0
