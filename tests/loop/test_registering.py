"""`register` against a real server: from one command line to a job that has run, and one workflow whatever is lost."""

import json
import sys
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from asyncenergy_controller.errors import ExitCode

from tests.contract.old_client import OldClient
from tests.loop.harness import JOB, Box, FastClock, wait_until
from tests.loop.proxy import CLEAR, Proxy
from tests.loop.server import Server

pytestmark = pytest.mark.campaign
AFTERNOON = datetime(2026, 11, 10, 17, 30, tzinfo=UTC)
TWENTY_MINUTES_A_SECOND = 1200.0
TIMES = ("--deadline", "by 7am", "--earliest-start", "18:00", "--recurrence", "daily")
COST = ("--est-duration", "1800", "--nameplate-watts", "300")


@pytest.fixture(scope="module")
def clock():
    return FastClock.reaching(AFTERNOON, TWENTY_MINUTES_A_SECOND)


@pytest.fixture(scope="module")
def server(tmp_path_factory, empty_database, clock):
    server = Server(tmp_path_factory.mktemp("registering") / "var", empty_database, clock.setting)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def person(server, request):
    person = OldClient(server.url, f"{abs(hash(request.node.name))}@example.org")
    assert person.signup().status == 201
    return person


@pytest.fixture
def box(tmp_path, server, person, clock):
    key = person.call("POST", "/api/v1/keys", {"name": "box", "scope": "all"}).body["key"]
    box = Box(tmp_path / "box", server.url, key, clock)
    yield box
    box.end()


def workflows(person):
    return person.call("GET", "/api/v1/workflows").body["results"]


def test_what_is_registered_runs_and_the_server_never_learns_what_it_is(person, box):
    program = [sys.executable, "-S", "-E", str(JOB), str(box.ledger_path), "summaries", "1.0"]
    done = box.call("register", "--name", "summaries", *TIMES, *COST, "--json", "--", *program)
    assert done.returncode == 0, done.stderr
    (workflow,) = workflows(person)
    assert workflow["id"] == json.loads(done.stdout)["id"]
    assert (workflow["request"], workflow["controller_id"], workflow["recurrence"]) == (None, box.name, "daily")
    box.start()
    wait_until(lambda: ("end", "summaries") in {line[:2] for line in box.ledger}, 60, box.log)
    (run,) = wait_until(lambda: person.call("GET", "/api/v1/runs").body["results"], 20, box.log)
    assert (run["exit_status"], run["workflow_id"]) == ("success", workflow["id"])
    known = json.dumps([workflow, run, person.call("GET", "/api/v1/schedule?after=-1").body])
    assert str(JOB) not in known
    assert str(box.home) not in known


def test_a_shared_request_is_in_the_account(person, box):
    box.call("register", "--name", "n", "--share-request", "--env", "TOKEN=hush", "--", "true", "a b")
    assert workflows(person)[0]["request"] == {"command": ["true", "a b"]}


def test_words_of_time_that_nobody_understands_are_told_by_the_server(person, box):
    refused = box.call("register", "--name", "n", "--deadline", "by noonish", "--", "true")
    assert refused.returncode == ExitCode.SERVER
    assert "noonish" in refused.stderr
    assert workflows(person) == []
    assert not (box.home / "config" / "jobs.json").exists()


@pytest.mark.parametrize("mishap", ["drop_answer", "drop_request", "repeat"])
def test_a_registration_through_a_bad_line_makes_one_workflow_and_one_job(server, person, box, mishap):
    with Proxy(server.port, weather=replace(CLEAR, **{mishap: 1.0})) as line:
        box.api_url = line.url
        first = box.call("register", "--name", "n", "--", "true")
        line.weather = CLEAR
        second = first if first.returncode == 0 else box.call("register", "--name", "n", "--", "true")
    assert second.returncode == 0, second.stderr
    jobs = (box.home / "config" / "jobs.json").read_text()
    assert [workflow["id"] in jobs for workflow in workflows(person)] == [True]
    assert jobs.count('"framework"') == 1
