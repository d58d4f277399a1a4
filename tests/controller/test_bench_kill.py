"""`kill -9` at the moments of a whole sweep: the card is healed at the next start, and --resume finishes the run."""

import os
import shutil
from itertools import count
from pathlib import Path

import pytest
from asyncenergy_controller.errors import ExitCode
from asyncenergy_controller.files import LineWriter

from tests.controller.killing import KilledAtStep, is_killed_in

SWEEP = ("bench", "sweep", "--meter", "nvml", "--items", 2, "--caps", "0.65")
EVERY = 6
"""All of the hundred moments take two minutes."""


def killed_at(step, box, nvml):
    """Sweep in a process of its own that dies at its step-th change on disk or card; say whether it did."""

    def sweep():
        killed = KilledAtStep(step)
        killed.around(os, "fsync")
        for name in ("replace", "unlink", "mkdir"):
            killed.around(Path, name)
        killed.around(nvml, "nvmlDeviceSetPowerManagementLimit")
        add = LineWriter.add

        def counted_add(writer, row):
            if "gpu_power_w" not in row:  # how many readings there are is the machine's speed
                killed()
            add(writer, row)

        LineWriter.add = counted_add
        box.run(*SWEEP)

    return is_killed_in(sweep)


@pytest.mark.campaign
def test_a_sweep_killed_at_any_moment_is_healed_and_resumed_to_its_end(box, nvml, board):
    resumed = 0
    for step in count(1, EVERY):
        for name in ("data", "state", "config"):
            shutil.rmtree(box.home / name, ignore_errors=True)
        if not killed_at(step, box, nvml):
            break
        box.run("bench", "list")
        assert nvml.limit_w(board) == 700
        code = box.run(*SWEEP[:4], "--resume").exit_code
        if code == ExitCode.USAGE:  # the run had not begun, or was at its end
            assert {run.status[0] for run in box.store.all()} <= {"finished"}
            continue
        assert code == 0
        assert [sorted(row.index for part in parts for row in part.items) for parts in by_unit(box.last)] == [
            [0, 1]
        ] * 2
        assert (nvml.limit_w(board), list((box.home / "state" / "power").glob("*.json"))) == (700, [])
        resumed += 1
    assert resumed > 5


def by_unit(run):
    return [[part for part in run.parts() if part.unit_index == unit] for unit in (0, 1)]
