"""Suites with power caps: set for one task, put back after it, skipped with a reason where they may not be set."""

import json
import sys
import textwrap

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
    assert list((box.home / "state" / "power").glob("*.json")) == []


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


def start_with_fake_card(box, *arguments):
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
    return box.start(*arguments, command=[sys.executable, "-c", textwrap.dedent(script)])


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
