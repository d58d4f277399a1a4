"""The optimizer is pure: it and what reads times load without Django."""

import subprocess
import sys
from pathlib import Path

import scheduling.optimizer

NAMES = ("PricePoint", "Mode", "Job", "Piece", "Placement", "Infeasible", "Plan", "plan", "verify", "random_start_mean")


def test_the_public_names_are_importable_from_the_package():
    assert [name for name in NAMES if name not in scheduling.optimizer.__all__] == []
    assert all(hasattr(scheduling.optimizer, name) for name in scheduling.optimizer.__all__)


def test_it_loads_neither_django_nor_the_network():
    code = (
        "import sys, scheduling.optimizer, scheduling.humantime, scheduling.recurrence;"
        "print([m for m in ('django', 'celery', 'httpx2', 'urllib3', 'ortools') if m in sys.modules])"
    )
    root = Path(__file__).resolve().parents[2]
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True, cwd=root)
    assert ran.stdout.strip() == "[]"
