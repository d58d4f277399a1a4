"""The benchmarks run by name, each in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.campaign


def ran(*names: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "benchmarks", *names]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


def test_one_that_does_not_exist_is_told_from_those_that_do():
    answer = ran("nothing", "forecast")
    assert answer.returncode == 1
    assert "there is no benchmark nothing: choose accounts, forecast, " in answer.stderr
    assert "optimizer" in answer.stderr
    assert "optimizer_rivals" not in answer.stderr, "what others use is no benchmark"
    assert answer.stdout == ""


def test_the_forecast_stands_beside_yesterday_and_lear(shared_data):
    answer = ran("forecast")
    assert answer.returncode == 0, answer.stderr
    rows = answer.stdout.splitlines()[3:]
    assert [row.split()[:2] for row in rows] == [["DE", "2"], ["DE", "4"], ["PJM", "2"], ["PJM", "4"]]
    assert all(" x; " in row and "below the best LEAR" in row for row in rows)
