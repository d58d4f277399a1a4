"""The benchmark of meters measures what it says, over a board that is not there."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import meters

ROOT = Path(__file__).resolve().parents[2]
OURS = meters.MONITORS[0]


@pytest.fixture(autouse=True)
def _settle_quickly(monkeypatch):
    monkeypatch.setattr(meters, "SETTLE_S", 0.05)


@pytest.mark.campaign
def test_our_sampler_reads_five_times_a_second_and_a_slow_counter_costs_what_it_takes():
    quick, slow = (meters.measure(replace(OURS, seconds=1.0), board) for board in meters.boards().values())
    assert quick.ticks_per_s == pytest.approx(5, abs=1.5)
    assert slow.ticks_per_s == pytest.approx(5, abs=1.5)
    assert slow.cpu_s_per_tick > quick.cpu_s_per_tick
    assert 0 < quick.core_share < 0.2


def test_what_is_not_installed_is_named_and_left_out(monkeypatch, capsys):
    monkeypatch.setattr(meters, "version", lambda package: None)
    monkeypatch.setattr(meters, "measure", lambda monitor, board: meters.Cost(5, 0.001, 0.005))
    meters.main()
    said = capsys.readouterr().out
    assert "zeus: not installed: pip install 'asyncenergy-controller[zeus]'" in said
    assert said.count("ours, 0.2 s") == 2, "ours needs no installing: it comes with the checkout"
    assert "[asyncenergy-controller]" not in said
    assert "PowerMonitor" not in said
    assert "1.00" in said


def test_a_board_that_this_machine_has_comes_third_and_its_readings_are_counted():
    with meters.simulated_board(0.0):  # stands for the machine's own
        *_, (title, board) = meters.boards().items()
        with board() as calls:
            meters.NvmlMeter()
    assert title.endswith(", driver 580.00")
    assert calls[meters.COUNTER] == 1
    assert calls[meters.FIELDS] >= 2


def test_a_benchmark_that_is_not_there_is_told():
    asked = subprocess.run(
        [sys.executable, "-m", "benchmarks", "metres"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert asked.returncode == 1
    assert "there is no benchmark metres: choose" in asked.stderr
    assert "meters" in asked.stderr
