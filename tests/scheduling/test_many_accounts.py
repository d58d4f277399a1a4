"""The short form of the accounts benchmark: two processes find their work by its claims."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.campaign
def test_two_processes_plan_some_accounts_once_each():
    command = [sys.executable, "-m", "benchmarks.accounts", "12"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True).stdout
    assert "12 versions, numbers {1}: none planned twice; 72 placed, 0 do not fit" in said
    shares = re.search(r"shares \[(\d+), (\d+)\]", said)
    assert sum(map(int, shares.groups())) == 12
