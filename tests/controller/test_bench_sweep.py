"""Suites with power caps: set for one task, put back after it, skipped with a reason where they may not be set."""

import fcntl
import json
import os
import pty
import signal
import sys
import termios
import textwrap
import threading

import pynvml
import pytest
from asyncenergy_controller.bench.suites import NAMED, sweep_plan
from asyncenergy_controller.errors import ExitCode

from tests.controller.bench_cli import wait_for

SWEEP = ("bench", "sweep", "--meter", "nvml", "--items", 3)


def runs_of(box):
    return json.loads(box.last.bundle_path.read_text())["runs"]


def test_each_cap_is_a_run_of_its_own_and_the_card_is_as_before(box, nvml, board):
    result = box.run(*SWEEP, "--caps", "0.85,0.65")
    assert result.exit_code == 0, result.stderr
    assert [run.get("power_limit_w") for run in runs_of(box)] == [None, 595.0, 455.0]
    assert {run["gpu_stock_power_limit_w"] for run in runs_of(box)} == {700.0}
    assert nvml.limit_w(board) == 700
    assert journal_of(box) == []


def test_a_measured_card_gives_a_counter_reading_of_its_load(box, nvml, board, engine):
    board.counter_period_s, engine.delay_s = 0.01, 0.06  # half a second of questions is worth many of its steps
    covered = box.env | {"ASYNCENERGY_LEAD_IN_S": "0.3"}
    box.run("bench", "smoke", "--meter", "nvml", "--items", 8, env=covered)
    figures = box.json("bench", "show")["runs"][0]["figures"]
    assert figures["energy_source"] == "counter"
    assert figures["mean_gpu_w"] == pytest.approx(300, rel=0.05)


def test_without_permission_the_caps_are_skipped_with_the_reason_and_stock_is_kept(box, nvml, board):
    board.fails["nvmlDeviceSetPowerManagementLimit"] = pynvml.NVML_ERROR_NO_PERMISSION
    result = box.json(*SWEEP, "--caps", "0.85")
    assert len(result["runs"]) == 1
    assert "root" in result["skipped"]["arith-cap85"]


def test_a_journal_that_cannot_be_written_skips_the_caps_with_the_reason(box, nvml, board):
    (box.home / "state").mkdir()
    (box.home / "state" / "power").write_text("no folder")
    result = box.json(*SWEEP, "--caps", "0.85")
    assert len(result["runs"]) == 1
    assert str(box.home / "state" / "power") in result["skipped"]["arith-cap85"]
    assert nvml.calls["nvmlDeviceSetPowerManagementLimit"] == 0


def test_caps_that_were_skipped_are_measured_by_a_resumed_run_that_may(box, nvml, board, engine):
    board.fails["nvmlDeviceSetPowerManagementLimit"] = pynvml.NVML_ERROR_NO_PERMISSION
    assert box.json(*SWEEP, "--caps", "0.85")["skipped"]
    box.last.set_status("stopped", "the time limit was reached")
    board.fails.clear()
    result = box.json(*SWEEP, "--resume")
    assert [run["label"] for run in result["runs"]] == ["arith", "arith-cap85"]
    assert result["skipped"] == {}


def test_a_limit_that_somebody_changes_meanwhile_is_left_to_them_and_no_run_is_made_of_two(box, nvml, board, engine):
    answer = engine._sum

    def answer_and_change(handler, body):
        if nvml.limit_w(board) == 595 and len(engine.questions) >= 5:
            nvml._keep(board, limit_mw=350_000)
        answer(handler, body)

    engine._sum = answer_and_change
    result = box.json(*SWEEP, "--caps", "0.85", code=ExitCode.FAILED)
    assert "from 595 W to 350 W" in result["reason"]
    assert [run.get("power_limit_w") for run in runs_of(box)] == [None]
    assert nvml.limit_w(board) == 350
    engine._sum = answer
    nvml._keep(board, limit_mw=700_000)
    assert box.run(*SWEEP, "--resume").exit_code == 0
    assert [run.get("power_limit_w") for run in runs_of(box)] == [None, 595.0]


def test_a_card_that_is_lost_under_a_cap_is_not_taken_for_one_at_stock(box, nvml, board, engine):
    answer = engine._sum

    def answer_and_lose(handler, body):
        if nvml.limit_w(board) == 595 and len(engine.questions) == 6:
            board.fails["nvmlDeviceGetPowerManagementLimit"] = pynvml.NVML_ERROR_GPU_IS_LOST
        answer(handler, body)

    engine._sum = answer_and_lose
    result = box.run(*SWEEP, "--caps", "0.85")
    assert result.exit_code == ExitCode.FAILED
    assert "sudo nvidia-smi" in result.stderr
    assert [run.get("power_limit_w") for run in runs_of(box)] == [None, 595.0]


def test_a_clock_is_locked_only_with_permission_and_let_go_again(box, nvml, board):
    refused = box.run(*SWEEP, "--clocks", "1500")
    assert refused.exit_code == ExitCode.USAGE
    assert nvml.calls["nvmlDeviceSetGpuLockedClocks"] == 0
    box.run(*SWEEP, "--caps", "", "--clocks", "1500", "--allow-clock-lock")
    assert [run.get("clock_lock_mhz") for run in runs_of(box)] == [None, 1500]
    assert nvml.clock_mhz(board) is None


def test_a_simulated_meter_never_limits_a_real_card(box, nvml, board):
    result = box.json("bench", "sweep", "--items", 3, "--caps", "0.85")
    assert "no NVIDIA GPU is metered" in result["skipped"]["arith-cap85"]
    assert nvml.calls["nvmlDeviceSetPowerManagementLimit"] == 0


@pytest.mark.campaign
def test_kill_dash_nine_under_a_cap_is_healed_at_the_next_start_and_loses_no_finished_task(box, nvml, board, engine):
    engine.delay_s = 0.05
    process = start_with_fake_card(box, *SWEEP, "--caps", "0.85,0.65")
    wait_for(lambda: nvml.limit_w(board) == 595 and len(engine.questions) >= 5)
    process.kill()
    process.communicate()
    assert nvml.limit_w(board) == 595
    healed = box.run("bench", "list")
    assert "595 W and is 700 W again" in healed.stderr
    assert nvml.limit_w(board) == 700
    assert box.run("bench", "sweep", "--meter", "nvml", "--resume").exit_code == 0
    indices = [(run.get("power_limit_w"), sorted(run["items"]["index"])) for run in runs_of(box)]
    assert indices[0] == (None, [0, 1, 2])
    assert sorted(i for limit, found in indices if limit == 595.0 for i in found) == [0, 1, 2]
    assert indices[-1] == (455.0, [0, 1, 2])


@pytest.mark.campaign
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_under_a_cap_puts_the_card_back_and_keeps_what_is_finished(box, nvml, board, engine, number):
    engine.delay_s = 0.05
    process = start_with_fake_card(box, *SWEEP, "--caps", "0.85,0.65")
    wait_for(lambda: nvml.limit_w(board) == 595 and len(engine.questions) >= 5)
    process.send_signal(number)
    process.communicate(timeout=20)
    assert process.returncode == ExitCode.INTERRUPTED
    assert (nvml.limit_w(board), journal_of(box)) == (700, [])
    assert box.last.status == ("interrupted", f"interrupted by {number.name}")
    assert len(runs_of(box)) == 2


@pytest.mark.campaign
def test_a_second_ctrl_c_waits_for_no_question_but_puts_the_card_back(box, nvml, board, engine):
    answer, asked, go_on = engine._sum, threading.Event(), threading.Event()

    def slow_under_the_cap(handler, body):
        if nvml.limit_w(board) == 595:
            asked.set()
            go_on.wait(20)
        answer(handler, body)

    engine._sum = slow_under_the_cap
    process = start_with_fake_card(box, *SWEEP, "--caps", "0.85")
    assert asked.wait(20)
    process.send_signal(signal.SIGINT)
    while b"Once more" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    go_on.set()
    assert process.returncode == ExitCode.INTERRUPTED
    assert (nvml.limit_w(board), journal_of(box)) == (700, [])


@pytest.mark.campaign
def test_a_terminal_that_is_closed_ends_the_run_in_good_order(box, nvml, board, engine):
    engine.delay_s = 0.05
    ours, theirs = pty.openpty()
    process = start_with_fake_card(
        box,
        *SWEEP,
        "--caps",
        "0.85,0.65",
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    wait_for(lambda: nvml.limit_w(board) == 595 and len(engine.questions) >= 5)
    os.close(ours)
    assert process.wait(timeout=20) == ExitCode.INTERRUPTED
    assert (nvml.limit_w(board), journal_of(box)) == (700, [])
    assert box.last.status == ("interrupted", "interrupted by SIGHUP")
    assert len(runs_of(box)) == 2


def journal_of(box):
    return list((box.home / "state" / "power").glob("*.json"))


def start_with_fake_card(box, *arguments, **how):
    """The command line as its own process, on the fake card whose state lies in card.json."""
    script = f"""
        import sys, time
        from pathlib import Path
        from asyncenergy_controller.meters import nvml_library
        from tests.controller.fakes_nvml import FakeBoard, FakeNvml, flat
        state = Path({str(box.home / "card.json")!r})
        fake = FakeNvml(FakeBoard(energy_j=flat(300)), clock=time.monotonic, state=state)
        nvml_library._nvml = lambda: fake
        from asyncenergy_controller.cli import main
        main()
    """
    return box.start(*arguments, command=[sys.executable, "-c", textwrap.dedent(script)], **how)


def test_a_sweep_takes_each_stock_task_of_a_suite_through_every_cap():
    plan = sweep_plan(NAMED["quick"].units, caps=[0.8, 0.6], clocks_mhz=[1500.0])
    tasks = ("gsm8k_platinum", "mmlu_redux", "ifeval")
    points = [(unit.task, unit.power_cap, unit.clock_lock_mhz) for unit in plan.units]
    assert points == [(t, *p) for t in tasks for p in ((None, None), (0.8, None), (0.6, None), (None, 1500))]


def test_the_reference_suite_refuses_other_weights(box, monkeypatch):
    monkeypatch.setattr("asyncenergy_controller.cli.session.load_units", lambda plan, dataset_dir: [])
    result = box.run("bench", "reference")
    assert result.exit_code == ExitCode.USAGE
    assert "Qwen3.5-9B Q4_K_M" in result.stderr
    assert "tiny-model" in result.stderr
