"""The shell between us and a job: it reads none of the job's words, and keeps how the job ended, whoever is there."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import uuid

import pytest
from asyncenergy_controller.adapters.leash import Leash
from asyncenergy_controller.adapters.log import CappedLog
from asyncenergy_controller.adapters.processes import end_run, exit_code_of, processes_of, run_program

from tests.controller.bench_cli import wait_for


@pytest.fixture
def log_path(tmp_path):
    return tmp_path / "run.log"


def run(tmp_path, *command, **kwargs):
    with CappedLog(tmp_path / "run.log") as log:
        given = {"cwd": tmp_path, "env": dict(os.environ), "run_id": uuid.uuid4(), "leash": Leash(threading.Event())}
        return run_program(command, log=log, exit_path=tmp_path / "run.exit", **given | kwargs)


@pytest.mark.parametrize("code", [0, 1, 77, 128])
def test_the_exit_code_is_returned_and_kept(tmp_path, log_path, code):
    assert run(tmp_path, sys.executable, "-S", "-c", f"raise SystemExit({code})") == (code, None)
    assert exit_code_of(log_path) == code


def test_a_signal_is_told_as_a_signal(tmp_path, log_path):
    assert run(tmp_path, "sh", "-c", "kill -9 $$") == (-signal.SIGKILL, None)
    assert exit_code_of(log_path) == -signal.SIGKILL


@pytest.mark.parametrize(
    "word", ["$(touch pwned)", "; touch pwned", "`touch pwned`", "a  b", "*", "'\"", "-n", "\\n", ""]
)
def test_the_words_of_a_job_reach_it_as_they_are(tmp_path, word):
    say = "import sys; open('said', 'w').write(sys.argv[1])"
    assert run(tmp_path, sys.executable, "-S", "-c", say, word) == (0, None)
    assert (tmp_path / "said").read_text() == word
    assert not (tmp_path / "pwned").exists()


def test_a_program_of_the_shells_own_words_is_the_systems_program(tmp_path):
    """`kill`, `test` or `exit` are words of a shell; a job means the file on PATH."""
    program = tmp_path / "bin" / "exit"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho ran > ran\n")
    program.chmod(0o755)
    assert run(tmp_path, "exit", "3", env={"PATH": f"{program.parent}:/usr/bin:/bin"}) == (0, None)
    assert (tmp_path / "ran").exists()


def test_a_program_below_the_folder_of_the_job_is_found_there(tmp_path):
    program = tmp_path / "mine.sh"
    program.write_text("#!/bin/sh\nexit 5\n")
    program.chmod(0o755)
    assert run(tmp_path, "./mine.sh") == (5, None)


@pytest.mark.parametrize(("name", "problem"), [("no-such-program", FileNotFoundError), ("./plain", PermissionError)])
def test_what_can_not_be_started_is_an_error_and_no_exit_code(tmp_path, log_path, name, problem):
    (tmp_path / "plain").write_text("no program")
    with pytest.raises(problem):
        run(tmp_path, name)
    assert exit_code_of(log_path) is None


def test_a_job_that_has_to_end_is_ended_and_its_keeper_too(tmp_path):
    stop = threading.Event()
    run_id = uuid.uuid4()
    threading.Timer(0.1, stop.set).start()
    code, why = run(tmp_path, "sleep", "30", run_id=run_id, leash=Leash(stop))
    assert (code, why) == (-signal.SIGTERM, "stop")
    assert processes_of(run_id) == []


def test_a_job_that_outlives_its_controller_is_known_to_have_ended_well(tmp_path, log_path):
    run_id = start_and_die(tmp_path, "sleep 0.2; touch done")
    assert exit_code_of(log_path) is None
    wait_for(lambda: exit_code_of(log_path) is not None)
    assert (exit_code_of(log_path), (tmp_path / "done").exists()) == (0, True)
    wait_for(lambda: processes_of(run_id) == [])


def test_a_job_that_is_ended_after_its_controller_died_did_not_end_well(tmp_path, log_path):
    run_id = start_and_die(tmp_path, "exec sleep 30")
    assert end_run(run_id) > 0
    assert exit_code_of(log_path) == -signal.SIGTERM


def start_and_die(tmp_path, script):
    """A controller that is killed as soon as its job runs."""
    run_id = uuid.uuid4()
    code = f"""
        import os, threading, uuid
        from pathlib import Path
        from asyncenergy_controller.adapters.leash import Leash
        from asyncenergy_controller.adapters.log import CappedLog
        from asyncenergy_controller.adapters.processes import run_program
        here = Path({str(tmp_path)!r})
        run_program(
            ["sh", "-c", {f"touch begun; {script}"!r}],
            cwd=here,
            env=dict(os.environ),
            run_id=uuid.UUID({str(run_id)!r}),
            leash=Leash(threading.Event()),
            log=CappedLog(here / "run.log"),
            exit_path=here / "run.exit",
        )
    """
    controller = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)])
    wait_for((tmp_path / "begun").exists)
    controller.kill()
    controller.wait()
    return run_id
