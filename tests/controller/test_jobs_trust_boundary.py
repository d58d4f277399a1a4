"""Whatever a server answers, only what stands in jobs.json runs, as it stands there.

Each string of each answer of the server may be anything. What reaches the operating system is looked at where it
does: the program, its arguments, its folder and its environment, the files that are opened and the requests to
engines.
"""

import inspect
import json
import os
import shutil
import threading
import uuid
from datetime import datetime
from pathlib import Path

import pytest
from asyncenergy_controller import adapters
from asyncenergy_controller.adapters import processes, run_entry
from asyncenergy_controller.clock import monotonic
from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.jobs.catalog import load_catalog
from asyncenergy_controller.jobs.limits import refusal
from asyncenergy_controller.jobs.registration import Registration, register
from asyncenergy_controller.server.schedule import decode_schedule
from hypothesis import given
from hypothesis import strategies as st

from .jobs_files import REPORT, command, write_jobs

EVIL = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        ["$(touch pwned)", "; reboot", "../../etc/passwd", "-rf", "/etc/shadow", "LD_PRELOAD=/x", "a\0b", "%s", "\n"]
    ),
)
JSON = st.recursive(EVIL | st.none() | st.integers() | st.booleans(), lambda v: st.lists(v, max_size=2), max_leaves=4)
KEYS = st.sampled_from(
    ["command", "request", "cwd", "env", "argv", "log_path", "timeout", "framework", "reason", "name", "machine", "env"]
)
TIMES = {"start": "2026-01-11T01:00:00+00:00", "end": "2026-01-11T02:00:00+00:00"}
PLACEMENTS = st.builds(
    lambda more, words: more | words | TIMES | {"workflow_id": REPORT, "feasible": True},
    st.dictionaries(KEYS | EVIL, JSON, max_size=5),
    st.fixed_dictionaries({"occurrence_id": EVIL.filter(bool), "reason": EVIL}),
)
SCHEDULES = st.builds(
    lambda more, placement: more | {"id": "x", "version": 1, "valid_until": TIMES["end"], "placements": [placement]},
    st.dictionaries(KEYS | EVIL, JSON, max_size=3),
    PLACEMENTS,
)
TRUE = shutil.which("true")
NOW = datetime.fromisoformat("2026-01-11T01:30:00+00:00")


class Box:
    """A machine that does with a schedule what the loop does, and notes what reaches the system."""

    def __init__(self, folder):
        self.folder = folder
        job = {"framework": "command", "request": {"command": ["true", "--flag"], "cwd": "."}}
        self.path = write_jobs(folder / "jobs.json", {REPORT: job})

    def follow(self, body):
        """Run each placement whose id is in the catalog."""
        jobs = load_catalog(self.path).jobs
        for placement in decode_schedule(body).placements:
            entry = jobs.get(placement.workflow_id)
            if entry is None or refusal(entry, NOW, []):
                continue
            run_id = uuid.uuid4()
            log = self.folder / "logs" / f"{run_id}.log"
            self.run(entry, run_id, log)

    def run(self, entry, run_id, log):
        return run_entry(
            entry,
            kill_at_s=monotonic() + 5,
            log_path=log,
            stop=threading.Event(),
            run_id=run_id,
            state_dir=self.folder / "state",
        )


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    return Box(tmp_path_factory.mktemp("boundary"))


class Started:
    """Stands where `subprocess.Popen` stood: notes what would be run."""

    calls = []

    def __init__(self, command, *, cwd, env, **_):
        *keeper, _, program = command[: len(processes.KEEPER) + 2]
        assert tuple(keeper) == processes.KEEPER
        self.calls.append(((program, *command[len(processes.KEEPER) + 2 :]), Path(cwd), dict(env)))
        raise FileNotFoundError(2, "not in this test")


@given(SCHEDULES)
def test_nothing_a_schedule_says_reaches_a_program_its_arguments_its_folder_or_its_environment(box, body):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(processes.subprocess, "Popen", Started)
        Started.calls.clear()
        box.follow(json.loads(json.dumps(body)))
    for words, cwd, env in Started.calls:
        assert words == (TRUE, "--flag")
        assert cwd == box.folder
        own = {name: value for name, value in env.items() if os.environ.get(name) != value}
        assert set(own) == {"ASYNCENERGY_RUN_ID", "ASYNCENERGY_PIECE"}
        assert uuid.UUID(own["ASYNCENERGY_RUN_ID"])
        assert own["ASYNCENERGY_PIECE"] == "1"
    assert {path.name for path in box.folder.iterdir()} <= {"jobs.json", "logs"}


@given(st.fixed_dictionaries({"occurrence_id": st.uuids().map(str), "reason": EVIL}))
def test_a_schedule_that_can_be_read_does_run_the_job(box, words):
    """Else the test above could not fail."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(processes.subprocess, "Popen", Started)
        Started.calls.clear()
        placement = words | TIMES | {"workflow_id": REPORT, "feasible": True}
        box.follow({"id": "x", "version": 1, "valid_until": TIMES["end"], "placements": [placement]})
    assert [call[0] for call in Started.calls] == [(TRUE, "--flag")]


@given(st.dictionaries(KEYS | st.just("id"), JSON, max_size=6))
def test_nothing_the_answer_to_a_registration_says_is_written_but_an_id(tmp_path_factory, answer):
    folder = tmp_path_factory.getbasetemp() / f"answer-{uuid.uuid4()}"
    folder.mkdir(mode=0o700)
    path = folder / "jobs.json"
    try:
        register(Registration(path, command("true"), {"name": "n"}), lambda body, key: answer, folder / "state", "u")
    except ControllerError:
        assert not path.exists()
        return
    assert [str(uuid.UUID(name)) for name in load_catalog(path).jobs] == list(load_catalog(path).jobs)
    assert load_catalog(path).jobs[answer["id"]].request.command == ("true",)


@given(EVIL)
def test_only_an_id_of_this_machine_names_a_run(box, text):
    """What no UUID is, such as a server's words, is refused before anything starts."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(processes.subprocess, "Popen", Started)
        Started.calls.clear()
        with pytest.raises(ValueError):  # noqa: PT011  # in whatever words
            box.run(load_catalog(box.path).jobs[REPORT], text, box.folder / "logs" / "x.log")
    assert Started.calls == []


def test_what_runs_jobs_takes_an_entry_of_the_file_numbers_and_nothing_with_words_in_it():
    taken = inspect.signature(run_entry).parameters
    assert {name for name, one in taken.items() if one.annotation is str or "str" in str(one.annotation)} == {"run_id"}
    assert set(taken) == {"entry", "kill_at_s", "log_path", "stop", "run_id", "state_dir", "piece", "done"}


def test_what_runs_jobs_knows_nothing_of_the_server():
    folder = Path(adapters.__file__).parent
    users = [path.name for path in folder.glob("*.py") if "controller.server" in path.read_text()]
    assert users == []
