"""A process that was noted down is known again, and no other is taken for it."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from asyncenergy_controller.liveness import mark_of, still_runs

GONE = 2**22 + 1
"""Linux gives no process such a number."""


@pytest.fixture
def child():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.communicate()


def created_s(pid):
    return psutil.Process(pid).create_time()


def test_a_process_runs_until_it_has_ended(child):
    noted = (child.pid, created_s(child.pid), mark_of(child.pid))
    assert still_runs(*noted)
    child.communicate()
    assert not still_runs(*noted)


def test_setting_the_wall_clock_ends_nobody(child, monkeypatch):
    noted = (child.pid, created_s(child.pid), mark_of(child.pid))
    monkeypatch.setattr(psutil.Process, "create_time", lambda process: noted[1] + 86_400)
    assert still_runs(*noted)


def test_another_process_of_the_same_number_is_not_taken_for_it(child):
    assert mark_of(child.pid) != mark_of(os.getpid())
    assert not still_runs(child.pid, created_s(child.pid), mark_of(os.getpid()))


def test_the_same_number_and_ticks_after_another_boot_are_another_process():
    boot, ticks = mark_of(os.getpid()).split()
    other_boot = boot.translate(str.maketrans("0123456789abcdef", "123456789abcdef0"))
    assert not still_runs(os.getpid(), created_s(os.getpid()), f"{other_boot} {ticks}")


def test_without_a_mark_the_time_of_its_beginning_counts():
    now_s = created_s(os.getpid())
    assert still_runs(os.getpid(), now_s)
    assert not still_runs(os.getpid(), now_s - 60)
    assert not still_runs(GONE, now_s)


def test_a_process_that_is_gone_has_no_mark():
    assert mark_of(GONE) is None


def test_the_oddest_name_of_a_process_hides_nothing(monkeypatch):
    before, name = mark_of(os.getpid()), Path("/proc/self/comm")
    real = name.read_text()
    name.write_bytes(b") R 1 (\xff 2")
    try:
        assert mark_of(os.getpid()) == before
    finally:
        name.write_text(real)
