"""The short form of `make load`: the campaign runs, and every answer under load is a good one."""

import subprocess
import sys
from pathlib import Path

from tests.load.__main__ import PATHS

ROOT = Path(__file__).resolve().parents[2]


def test_every_address_answers_under_load_and_stands_beside_health():
    command = [sys.executable, "-m", "tests.load", "--seconds", "0.5", "--clients", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if "x /health" in line]
    assert [row.split()[0] for row in rows] == list(PATHS)
