"""Lowering a power limit: inside the card's range, and always put back."""

import json
import os
from itertools import count
from pathlib import Path

import psutil
import pynvml
import pytest
from asyncenergy_controller.meters.gpu_writes import READ_ONLY, WriteRefused
from asyncenergy_controller.meters.power_journal import Entry, Journal, JournalBroken
from asyncenergy_controller.meters.power_limit import PowerControl, heal_leftovers

from .fakes_nvml import FakeBoard, FakeNvml, install
from .killing import KilledAtStep, is_killed_in

pytestmark = pytest.mark.usefixtures("writable")
DENIED = pynvml.NVML_ERROR_NO_PERMISSION


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "gpu-journal"


@pytest.fixture
def nvml(monkeypatch, tmp_path):
    return install(monkeypatch, FakeNvml(state=tmp_path / "card.json"))


def control(folder, device=None, policy="preserve"):
    return PowerControl(folder, device, policy=policy, environ={})


def entry_of(folder, board) -> Entry:
    entry = Journal(folder).read(board.uuid)
    assert entry is not None
    return entry


def files(folder):
    return sorted(path.name for path in folder.glob("*.json"))


def test_a_cap_is_set_and_put_back(nvml, folder):
    with control(folder) as power:
        limits = power.limits()
        power.set_limit_w(0.85 * limits.default_w)
        assert nvml.limit_w(nvml.boards[0]) == 595
        power.set_limit_w(0.65 * limits.default_w)
        assert nvml.limit_w(nvml.boards[0]) == 455
    assert nvml.limit_w(nvml.boards[0]) == 700
    assert files(folder) == []


def test_an_error_inside_the_sweep_puts_the_cap_back(nvml, folder):
    def sweep():
        with control(folder) as power:
            power.set_limit_w(300)
            raise KeyError

    with pytest.raises(KeyError):
        sweep()
    assert nvml.limit_w(nvml.boards[0]) == 700


def test_the_journal_is_on_disk_before_the_card_is_touched(nvml, folder, monkeypatch):
    seen = []
    for name in ("nvmlDeviceSetPowerManagementLimit", "nvmlDeviceSetGpuLockedClocks"):
        real = getattr(nvml, name)

        def write(board, *values, real=real):
            seen.append((files(folder), entry_of(folder, board).set_mw))
            real(board, *values)

        monkeypatch.setattr(nvml, name, write, raising=False)
    with control(folder) as power:
        power.set_limit_w(300)
        power.lock_clock_mhz(1500)
    assert seen == [([f"{nvml.boards[0].uuid}.json"], (300_000,))] * 2 + [([f"{nvml.boards[0].uuid}.json"], (300_000,))]


def test_a_clock_lock_is_let_go_again(nvml, folder):
    with control(folder) as power:
        power.lock_clock_mhz(1500)
        assert nvml.clock_mhz(nvml.boards[0]) == 1500
    assert nvml.clock_mhz(nvml.boards[0]) is None
    assert files(folder) == []


@pytest.mark.parametrize("watts", [199.9, 700.1, 0, -5, float("nan"), 1e9])
def test_a_limit_outside_the_cards_range_or_above_stock_is_refused(nvml, folder, watts):
    nvml.boards[0].range_mw = (200_000, 800_000)
    with control(folder) as power, pytest.raises(WriteRefused) as refused:
        power.set_limit_w(watts)
    assert refused.value.reason == "out_of_range"
    assert (nvml.calls["nvmlDeviceSetPowerManagementLimit"], files(folder)) == (0, [])


def test_preserve_keeps_the_owners_limit(nvml, folder):
    nvml.boards[0].limit_mw = 500_000
    with control(folder) as power:
        with pytest.raises(WriteRefused, match="found at 500 W") as refused:
            power.set_limit_w(595)
        power.set_limit_w(455)
    assert refused.value.reason == "owner_limit"
    assert nvml.limit_w(nvml.boards[0]) == 500


def test_managed_goes_back_to_the_factory_default(nvml, folder):
    nvml.boards[0].limit_mw = 500_000
    with control(folder, policy="managed") as power:
        power.set_limit_w(595)
    assert nvml.limit_w(nvml.boards[0]) == 700


def test_a_limit_raised_above_stock_is_not_taken_away_from_its_owner(nvml, folder):
    nvml.boards[0].limit_mw, nvml.boards[0].range_mw = 750_000, (200_000, 800_000)
    with control(folder) as power, pytest.raises(WriteRefused) as refused:
        power.set_limit_w(595)
    assert refused.value.reason == "owner_limit"
    assert nvml.limit_w(nvml.boards[0]) == 750


def test_without_permission_the_sweep_is_refused_and_leaves_no_journal(nvml, folder):
    nvml.boards[0].fails = {"nvmlDeviceSetPowerManagementLimit": DENIED, "nvmlDeviceSetGpuLockedClocks": DENIED}
    with control(folder) as power:
        for change in (lambda: power.set_limit_w(300), lambda: power.lock_clock_mhz(1500)):
            with pytest.raises(WriteRefused, match="root") as refused:
                change()
            assert refused.value.reason == "no_permission"
    assert (nvml.limit_w(nvml.boards[0]), files(folder)) == (700, [])


def test_permission_lost_between_two_caps_keeps_the_journal_for_the_first(nvml, folder):
    power = control(folder)
    power.set_limit_w(300)
    nvml.boards[0].fails = {"nvmlDeviceSetPowerManagementLimit": DENIED}
    with pytest.raises(WriteRefused):
        power.set_limit_w(250)
    assert entry_of(folder, nvml.boards[0]).set_mw == (300_000,)
    nvml.boards[0].fails = {}
    power.restore()
    assert (nvml.limit_w(nvml.boards[0]), files(folder)) == (700, [])


def test_a_card_without_a_settable_limit_says_so(nvml, folder):
    nvml.boards[0].fails = {"nvmlDeviceGetPowerManagementLimitConstraints": pynvml.NVML_ERROR_NOT_SUPPORTED}
    power = control(folder)
    assert "no settable power limit" in power.why_not()
    with pytest.raises(WriteRefused):
        power.set_limit_w(300)


def test_whether_the_limit_can_be_set_is_told_without_trying(nvml, folder, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "root" in control(folder).why_not()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert control(folder).why_not() is None
    monkeypatch.setenv(READ_ONLY, "1")
    assert READ_ONLY in control(folder).why_not()
    assert nvml.calls["nvmlDeviceSetPowerManagementLimit"] == 0


def test_a_driver_that_keeps_another_limit_is_found_out_and_put_back(nvml, folder):
    nvml.boards[0].clamp_mw = 400_000
    with control(folder) as power, pytest.raises(WriteRefused, match="told 300 W and keeps 400 W"):
        power.set_limit_w(300)


def test_two_boards_are_changed_both_or_not_at_all(monkeypatch, folder, tmp_path):
    boards = [FakeBoard(uuid="GPU-a"), FakeBoard(uuid="GPU-b"), FakeBoard(uuid="GPU-c")]
    nvml = install(monkeypatch, FakeNvml(*boards, state=tmp_path / "card.json"))
    with control(folder, "0,1") as power:
        power.set_limit_w(300)
        assert [nvml.limit_w(board) for board in boards] == [300, 300, 700]
    boards[1].fails = {"nvmlDeviceSetPowerManagementLimit": DENIED}
    with control(folder, "0,1") as power, pytest.raises(WriteRefused):
        power.set_limit_w(300)
    assert [nvml.limit_w(board) for board in boards] == [700, 700, 700]
    assert files(folder) == []


def test_unlike_boards_are_refused(monkeypatch, folder):
    install(monkeypatch, FakeNvml(FakeBoard(uuid="GPU-a"), FakeBoard(uuid="GPU-b", default_limit_mw=350_000)))
    with pytest.raises(WriteRefused) as refused:
        control(folder, "all").set_limit_w(300)
    assert refused.value.reason == "unlike_boards"


def sweep_killed_at(step, nvml, folder, policy):
    """Run a sweep in a process of its own that is killed at its step-th moment; say whether it was."""

    def sweep():
        killed = KilledAtStep(step)
        killed.around(os, "fsync")
        for name in ("replace", "unlink"):
            killed.around(Path, name)
        for name in (
            "nvmlDeviceSetPowerManagementLimit",
            "nvmlDeviceSetGpuLockedClocks",
            "nvmlDeviceResetGpuLockedClocks",
        ):
            killed.around(nvml, name)
        with control(folder, policy=policy) as power:
            power.set_limit_w(500)
            power.set_limit_w(400)
            power.lock_clock_mhz(1500)

    return is_killed_in(sweep)


@pytest.mark.campaign
@pytest.mark.parametrize(("policy", "stride", "put_back_w"), [("preserve", 1, {600}), ("managed", 5, {600, 700})])
def test_a_sweep_killed_at_any_moment_is_healed_at_the_next_start(nvml, folder, policy, stride, put_back_w):
    changed = 0
    board = nvml.boards[0]
    board.limit_mw = 600_000
    for step in count(1, stride):
        nvml.state.unlink(missing_ok=True)
        if not sweep_killed_at(step, nvml, folder, policy):
            break
        was_changed = nvml.limit_w(board) in {500, 400} or nvml.clock_mhz(board) == 1500
        healed = heal_leftovers(folder)
        assert nvml.limit_w(board) in put_back_w
        assert nvml.clock_mhz(board) is None
        assert (files(folder), heal_leftovers(folder)) == ([], [])
        assert not was_changed or [one.healed for one in healed] == [True]
        changed += was_changed
    assert step > 30
    assert changed > 10 / stride


def test_a_leftover_cap_is_never_taken_for_stock(nvml, folder):
    assert sweep_killed_at(9, nvml, folder, "preserve")
    assert nvml.limit_w(nvml.boards[0]) == 500
    with pytest.raises(WriteRefused) as refused:
        control(folder).set_limit_w(400)
    assert refused.value.reason == "leftover"
    (healing,) = heal_leftovers(folder)
    assert healing.message == "NVIDIA H200: the power limit was 500 W and is 700 W again"
    with control(folder) as power:
        assert power.limits().default_w == power.limits().current_w == 700
        power.set_limit_w(595)


def test_a_limit_that_somebody_has_set_since_stays(nvml, folder):
    assert sweep_killed_at(9, nvml, folder, "preserve")
    nvml._keep(nvml.boards[0], limit_mw=350_000)
    (healing,) = heal_leftovers(folder)
    assert healing.healed
    assert "350 W" in healing.message
    assert (nvml.limit_w(nvml.boards[0]), files(folder)) == (350, [])


def test_a_leftover_that_cannot_be_healed_stays_and_says_what_to_type(nvml, folder):
    assert sweep_killed_at(9, nvml, folder, "preserve")
    nvml.boards[0].fails = {"nvmlDeviceSetPowerManagementLimit": DENIED}
    (healing,) = heal_leftovers(folder)
    assert not healing.healed
    assert f"sudo nvidia-smi -i {nvml.boards[0].uuid} -pl 700" in healing.message
    assert len(files(folder)) == 1


def test_a_leftover_of_a_card_that_is_not_here_or_has_no_driver_is_kept(nvml, folder):
    assert sweep_killed_at(9, nvml, folder, "preserve")
    nvml.boards[0].uuid = "GPU-other"
    assert [one.healed for one in heal_leftovers(folder)] == [False]
    nvml.fails["nvmlInit"] = pynvml.NVML_ERROR_DRIVER_NOT_LOADED
    assert [one.healed for one in heal_leftovers(folder)] == [False]
    assert len(files(folder)) == 1


def test_a_run_that_is_still_going_is_left_alone(nvml, folder):
    power = control(folder)
    power.set_limit_w(300)
    assert heal_leftovers(folder) == []
    assert nvml.limit_w(nvml.boards[0]) == 300
    entry = entry_of(folder, nvml.boards[0])
    parents = psutil.Process(os.getppid())
    Journal(folder).write(
        Entry(entry.uuid, entry.name, 700_000, 700_000, parents.pid, parents.create_time(), (300_000,))
    )
    with pytest.raises(WriteRefused, match=f"process {parents.pid} is changing"):
        power.set_limit_w(250)


def set_wall_clock(monkeypatch, *, ahead_s):
    """As Linux shows it: every process seems to have begun so much later."""
    real = psutil.Process.create_time
    monkeypatch.setattr(psutil.Process, "create_time", lambda process: real(process) + ahead_s)


@pytest.mark.parametrize("ahead_s", [3600, -3600])
def test_a_wall_clock_that_is_set_in_mid_run_keeps_no_card_capped(nvml, folder, monkeypatch, ahead_s):
    with control(folder) as power:
        power.set_limit_w(300)
        set_wall_clock(monkeypatch, ahead_s=ahead_s)
        assert heal_leftovers(folder) == []
        power.set_limit_w(250)
        assert nvml.limit_w(nvml.boards[0]) == 250
    assert (nvml.limit_w(nvml.boards[0]), files(folder)) == (700, [])


def test_a_journal_without_the_mark_of_its_process_is_read_as_before(nvml, folder):
    folder.mkdir()
    nvml._keep(nvml.boards[0], limit_mw=300_000)
    fields = {
        "uuid": nvml.boards[0].uuid,
        "name": "H200",
        "before_mw": 700_000,
        "restore_mw": 700_000,
        "pid": os.getppid(),
        "pid_created_s": psutil.Process(os.getppid()).create_time(),
        "set_mw": [300_000],
        "clock_locked": False,
    }
    path = folder / f"{nvml.boards[0].uuid}.json"
    path.write_text(json.dumps(fields))
    assert heal_leftovers(folder) == []
    path.write_text(json.dumps(fields | {"pid_created_s": 12345.0}))
    assert [one.healed for one in heal_leftovers(folder)] == [True]
    assert nvml.limit_w(nvml.boards[0]) == 700


def test_a_process_id_given_to_another_process_is_a_leftover(nvml, folder):
    Journal(folder).write(Entry(nvml.boards[0].uuid, "H200", 700_000, 700_000, os.getpid(), 12345.0, (300_000,)))
    nvml._keep(nvml.boards[0], limit_mw=300_000)
    assert [one.healed for one in heal_leftovers(folder)] == [True]
    assert nvml.limit_w(nvml.boards[0]) == 700


@pytest.mark.parametrize("content", ["", "{", "[]", '{"uuid": "GPU-a"}', '{"set_mw": 3}'])
def test_a_broken_journal_is_reported_and_stops_every_change(nvml, folder, content):
    folder.mkdir()
    path = folder / f"{nvml.boards[0].uuid}.json"
    path.write_text(content)
    (healing,) = heal_leftovers(folder)
    assert not healing.healed
    assert str(path) in healing.message
    with pytest.raises(JournalBroken):
        control(folder).set_limit_w(300)
    assert nvml.calls["nvmlDeviceSetPowerManagementLimit"] == 0


def test_nothing_to_heal_starts_no_driver(nvml, folder):
    assert heal_leftovers(folder) == []
    assert nvml.calls["nvmlInit"] == 0


@pytest.mark.parametrize("value", ["1", "true", "yes", "on", "read-only"])
def test_read_only_makes_every_write_impossible(nvml, folder, monkeypatch, value):
    assert sweep_killed_at(9, nvml, folder, "preserve")
    before = nvml.state.read_text()
    monkeypatch.setenv(READ_ONLY, value)
    power = control(folder)
    assert [one.healed for one in heal_leftovers(folder)] == [False]
    Journal(folder).clear(nvml.boards[0].uuid)
    for change in (lambda: power.set_limit_w(300), lambda: power.lock_clock_mhz(1500)):
        with pytest.raises(WriteRefused) as refused:
            change()
        assert refused.value.reason == "read_only"
    power.restore()
    assert nvml.state.read_text() == before
    assert not [name for name in nvml.calls if name.startswith(("nvmlDeviceSet", "nvmlDeviceReset"))]
