"""A program runs as it stands in the file, in its time, and leaves nothing behind: no process, no file handle."""

import os
import signal
import stat
import subprocess
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psutil
import pytest
from asyncenergy_controller.adapters import command, processes
from asyncenergy_controller.adapters.command import environment
from asyncenergy_controller.adapters.log import CappedLog
from asyncenergy_controller.adapters.outcome import Outcome
from asyncenergy_controller.jobs.entry import CommandRequest

from .bench_cli import wait_for
from .jobs_running import Runner


@pytest.fixture(autouse=True)
def short_grace(monkeypatch):
    """Between SIGTERM and SIGKILL."""
    monkeypatch.setattr(command, "run_program", partial(processes.run_program, grace_s=0.3))


@pytest.fixture
def runner(tmp_path):
    runner = Runner(tmp_path)
    yield runner
    assert processes.processes_of(runner.run_id) == []


def script(runner, text):
    """A program of Python that knows where to write."""
    path = runner.folder / "job.py"
    path.write_text(text)
    return [sys.executable, "-S", "-E", str(path)]


def living(pid):
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def handles():
    return len(list(Path("/proc/self/fd").iterdir()))


def pids_in(runner, count):
    """Ids that the job has written to its log."""
    pids = [int(word) for word in runner.log.read_text().split() if word.isdecimal()]
    assert len(pids) == count
    return pids


def interrupted(runner, when, **request):
    """Run a program, and interrupt it as soon as that holds; return how it ended."""
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(runner.run, "command", **request)
        try:
            wait_for(when)
        finally:
            runner.stop.set()
    return ended.result()


def has_said(runner, lines):
    """Whether the job has written so many lines."""
    return lambda: runner.log.exists() and runner.log.read_text().count("\n") == lines


def test_a_program_that_ends_well_is_a_success(runner):
    assert runner.run("command", command=["true"]) == Outcome("success")


def test_the_work_that_its_owner_knows_is_told_where_it_is_done(runner):
    known = {"work_units": 120.0, "work_unit_kind": "images"}
    assert runner.run("command", command=["true"], **known) == Outcome("success", **known)
    assert runner.run("command", command=["false"], **known).work_units is None


def test_its_words_arrive_as_they_are(runner):
    words = ["a b", "$HOME", "*", "'q'", "", "|", "ünï"]
    runner.run("command", command=["printf", "%s\n", *filter(None, words)])
    assert runner.log.read_text().split("\n")[:-1] == [word for word in words if word]


def test_its_folder_and_its_environment_are_its_own(runner, monkeypatch):
    monkeypatch.setenv("ASYNCENERGY_API_KEY", "ae_secret")
    monkeypatch.setenv("HM_ASYNC_PASSWORD", "secret")
    monkeypatch.setenv("INHERITED", "yes")
    show = ["sh", "-c", "pwd; echo $MINE $INHERITED $ASYNCENERGY_PIECE $ASYNCENERGY_RUN_ID; env"]
    runner.run("command", command=show, cwd=runner.folder, env={"MINE": "a b"}, piece=3)
    text = runner.log.read_text()
    assert text.startswith(f"{runner.folder}\na b yes 3 {runner.run_id}\n")
    assert "secret" not in text


def test_a_job_may_be_given_a_secret_on_purpose():
    request = CommandRequest(command=("a",), env={"ASYNCENERGY_API_KEY": "mine"})
    assert environment(request, {"ASYNCENERGY_API_KEY": "ours", "PATH": "/bin"}) == {
        "ASYNCENERGY_API_KEY": "mine",
        "PATH": "/bin",
    }


def test_its_input_is_empty(runner):
    assert runner.run("command", command=["cat"], limit_s=5).exit_status == "success"


def test_a_program_that_fails_says_how_and_its_last_line(runner):
    failed = runner.run("command", command=["sh", "-c", "echo working; echo 'no such table' >&2; exit 3"])
    assert failed == Outcome("error", "it ended with exit code 3. Last line of its output: no such table")


def test_a_program_that_is_killed_says_by_what(runner):
    killed = runner.run("command", command=["sh", "-c", "kill -SEGV $$"])
    assert killed.exit_status == "error"
    assert "SIGSEGV" in killed.detail


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"command": ["no-such-program"]}, "no-such-program can't be started"),
        ({"command": ["true"], "cwd": "/no/such/folder"}, "/no/such/folder: No such file"),
        ({"command": [__file__]}, "Permission denied"),
        ({"command": ["true", "x" * 3_000_000]}, "too long"),
    ],
)
def test_what_cannot_be_started_is_a_failure_in_words(runner, request_, words):
    failed = runner.run("command", **request_)
    assert failed.exit_status == "error"
    assert words in failed.detail


def test_at_the_end_of_its_time_it_is_ended_and_that_is_an_error(runner):
    begun_s = time.monotonic()
    assert runner.run("command", command=["sleep", "60"], limit_s=0.2).exit_status == "error"
    assert time.monotonic() - begun_s < 2.5


def test_a_timeout_of_its_own_holds_within_the_window(runner):
    over = runner.run("command", command=["sleep", "60"], timeout=0.2, limit_s=30)
    assert (over.exit_status, over.detail) == ("error", "ended because its time was over")


def test_a_longer_timeout_does_not_lengthen_the_window(runner):
    begun_s = time.monotonic()
    runner.run("command", command=["sleep", "60"], timeout=60, limit_s=0.2)
    assert time.monotonic() - begun_s < 2.5


def test_a_job_whose_time_is_over_is_not_begun(runner):
    runner.run("command", command=["touch", str(runner.folder / "begun")], limit_s=-1)
    assert not (runner.folder / "begun").exists()


def test_an_interrupted_job_is_preempted_whatever_it_makes_of_the_signal(runner, monkeypatch):
    monkeypatch.setattr(command, "run_program", processes.run_program)  # however long a busy machine takes to save
    job = "trap 'echo saved; exit 0' TERM; echo up; while :; do sleep 0.05; done"
    assert interrupted(runner, has_said(runner, 1), command=["sh", "-c", job]).exit_status == "preempted"
    assert runner.log.read_text().endswith("saved\n")


def test_a_job_that_was_stopped_before_it_began_is_preempted(runner):
    runner.stop.set()
    assert runner.run("command", command=["touch", str(runner.folder / "begun")]).exit_status == "preempted"
    assert not (runner.folder / "begun").exists()


def test_what_ends_by_itself_in_the_last_moment_is_a_success(runner):
    assert runner.run("command", command=["true"], stop_after_s=20).exit_status == "success"


STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
{fork}
print(os.getpid(), flush=True)
time.sleep(60)
"""


def test_what_does_not_listen_is_killed(runner):
    interrupted(runner, has_said(runner, 1), command=script(runner, STUBBORN.format(fork="")))
    assert not living(*pids_in(runner, 1))


def test_children_and_grandchildren_that_do_not_listen_are_killed_with_it(runner):
    job = script(runner, STUBBORN.format(fork="os.fork(); os.fork()"))
    interrupted(runner, has_said(runner, 4), command=job)
    assert [pid for pid in pids_in(runner, 4) if living(pid)] == []


def test_what_left_its_group_is_ended_too(runner):
    fork = "if os.fork() == 0: os.setsid(); os.fork()"
    interrupted(runner, has_said(runner, 3), command=script(runner, STUBBORN.format(fork=fork)))
    assert [pid for pid in pids_in(runner, 3) if living(pid)] == []


def test_what_cleared_its_environment_is_ended_with_its_group(runner):
    job = "env -i sleep 60 & echo $!; sleep 60"

    def is_cleared():
        return has_said(runner, 1)() and psutil.Process(*pids_in(runner, 1)).cmdline() == ["sleep", "60"]

    interrupted(runner, is_cleared, command=["sh", "-c", job])
    assert not living(*pids_in(runner, 1))


def test_what_a_program_leaves_running_when_it_ends_is_ended(runner):
    begun_s = time.monotonic()
    assert runner.run("command", command=["sh", "-c", "sleep 60 & echo $!"]) == Outcome("success")
    assert not living(*pids_in(runner, 1))
    assert time.monotonic() - begun_s < 4


def test_a_group_that_stops_itself_is_killed(runner):
    assert runner.run("command", command=["sh", "-c", "kill -STOP $$"], limit_s=0.2).exit_status == "error"


def test_no_handle_and_no_zombie_is_left(runner):
    runner.run("command", command=["true"])
    before = handles()
    for _ in range(5):
        runner.run("command", command=["sh", "-c", "sleep 60 & exit 1"])
        runner.run("command", command=["no-such-program"])
        runner.run("command", command=["sleep", "60"], limit_s=0.02)
    assert handles() <= before, "what earlier tests left may close meanwhile"
    assert [c for c in psutil.Process().children() if c.status() == psutil.STATUS_ZOMBIE] == []


def test_a_job_that_closes_its_output_goes_on(runner):
    job = "exec >&- 2>&-; sleep 0.3; touch done"
    assert runner.run("command", command=["sh", "-c", job], cwd=runner.folder).exit_status == "success"
    assert (runner.folder / "done").exists()


def test_leftovers_of_a_killed_controller_are_found_by_the_id_of_their_run():
    run_id = uuid.uuid4()
    left = subprocess.Popen(["sleep", "60"], env=os.environ | {"ASYNCENERGY_RUN_ID": str(run_id)})
    try:
        assert [one.pid for one in processes.processes_of(run_id)] == [left.pid]
        threading.Timer(0.2, left.wait).start()  # somebody reaps it, as init would
        assert processes.end_run(run_id) == 1
        assert left.wait(5) == -signal.SIGTERM
    finally:
        left.kill()
        left.wait()
    assert processes.end_run(run_id) == 0


def test_a_process_is_ended_whose_number_another_one_had_before(monkeypatch):
    """Numbers come round again within days, and psutil keeps what it once knew of each."""
    run_id = uuid.uuid4()
    left = subprocess.Popen(["sleep", "60"], env=os.environ | {"ASYNCENERGY_RUN_ID": str(run_id)})
    before = psutil.Process(left.pid)
    before._ident = (left.pid, 1.0)
    monkeypatch.setattr(psutil, "_pmap", {left.pid: before})
    try:
        processes.end_run(run_id)
        assert left.poll() == -signal.SIGTERM
    finally:
        left.kill()
        left.wait()


def test_the_log_is_for_its_owner_alone(runner):
    runner.run("command", command=["echo", "hello"])
    assert stat.S_IMODE(runner.log.stat().st_mode) == 0o600
    assert stat.S_IMODE(runner.log.parent.stat().st_mode) == 0o700


def test_an_endless_talker_fills_no_disk_and_is_still_ended_in_time(runner):
    begun_s = time.monotonic()
    runner.run("command", command=["yes", "line"], limit_s=0.3)
    assert time.monotonic() - begun_s < 3
    assert runner.log.stat().st_size < 1.1 * 2**20


def test_of_much_output_beginning_and_end_are_kept(tmp_path):
    lines = [f"line {number}\n".encode() for number in range(10_000)]
    with CappedLog(tmp_path / "log", most_bytes=2000) as log:
        for line in lines:
            log.write(line)
    kept = (tmp_path / "log").read_bytes()
    assert kept.startswith(b"line 0\nline 1\n")
    assert kept.endswith(b"line 9998\nline 9999\n")
    head, note, tail = kept.partition(b"\n[... ")
    left_out = int(tail.split(b" ")[0])
    assert left_out + len(head) + len(tail.split(b"...]\n", 1)[1]) == sum(map(len, lines))
    assert len(kept) < 2100


def test_of_little_output_every_byte_is_kept(tmp_path):
    with CappedLog(tmp_path / "log", most_bytes=1000) as log:
        log.write(b"\xff\x00" * 400)
    assert (tmp_path / "log").read_bytes() == b"\xff\x00" * 400


def test_the_next_piece_is_added_to_the_log(runner):
    runner.run("command", command=["echo", "one"])
    runner.run("command", command=["echo", "two"])
    assert runner.log.read_text() == "one\ntwo\n"


def test_a_log_that_cannot_be_kept_does_not_stop_the_job(runner):
    runner.log.parent.parent.joinpath("logs").write_text("in the way")
    assert runner.run("command", command=["sh", "-c", "echo hi; touch done"], cwd=runner.folder) == Outcome("success")
    assert (runner.folder / "done").exists()


def test_a_log_is_never_written_through_a_link(runner):
    runner.log.parent.mkdir()
    target = runner.folder / "precious"
    target.write_text("precious")
    runner.log.symlink_to(target)
    assert runner.run("command", command=["echo", "hi"]) == Outcome("success")
    assert target.read_text() == "precious"


def test_the_output_is_there_while_the_job_runs(runner):
    def is_there():
        return runner.log.exists() and runner.log.read_text() == "early\n"

    interrupted(runner, is_there, command=["sh", "-c", "echo early; sleep 60"])
