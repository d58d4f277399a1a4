"""From sign-up to savings: a real server and a real controller in one tree of processes; only the card is invented."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.contract.old_client import OldClient
from tests.loop.harness import Box, FastClock, wait_until
from tests.loop.server import Server

pytestmark = pytest.mark.campaign
AFTERNOON = datetime(2026, 11, 10, 17, 30, tzinfo=UTC)
FAST = 750.0
A_MOMENT = timedelta(seconds=1)
NIGHTLY = ["--name", "summaries", "--earliest-start", "18:00", "--deadline", "by 7am", "--recurrence", "daily"]
SIZE = ["--est-duration", "1800", "--nameplate-watts", "300"]


@pytest.fixture
def clock():
    """From the morning on, so that also a slow machine has registered all before the cheap hours begin."""
    return FastClock.reaching(AFTERNOON, FAST, in_s=45)


@pytest.fixture
def server(tmp_path, empty_database, clock):
    server = Server(tmp_path / "var", empty_database, clock.setting)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def person(server):
    """Who will sign up, and what a browser would see of it."""
    return OldClient(server.url, "night@example.org")


@pytest.fixture
def box(tmp_path, server, clock):
    box = Box(tmp_path / "box", server.url, "", clock)
    yield box
    box.end()


def test_from_sign_up_to_savings(server, person, box, clock):
    box.extra_env = {"ASYNCENERGY_PASSWORD": person.password}
    done(box.call("signup", "--email", person.email))
    person.login()
    box.api_key = person.call("POST", "/api/v1/keys", {"name": "box", "scope": "schedule"}).body["key"]
    done(box.call("register", *NIGHTLY, *SIZE, "--", *box.job("summaries", 1.2)))
    done(box.call("run", "--check"))
    planned = wait_until(lambda: person.call("GET", "/api/v1/schedule?after=-1").body)["placements"][0]
    assert datetime.fromisoformat(planned["start"]) >= AFTERNOON.replace(hour=22, minute=0), "the cheap hours"
    box.start()
    wait_until(lambda: ("end", "summaries") in {line[:2] for line in box.ledger}, 150, box.log)
    wait_until(lambda: box.waiting() == 0, 20, box.log)
    run = wait_until(lambda: rolled_up(person), 20, box.log)
    started, deadline = (datetime.fromisoformat(text) for text in (run["actual_start"], planned["deadline"]))
    assert datetime.fromisoformat(planned["start"]) - A_MOMENT <= started < deadline
    assert (run["exit_status"], run["occurrence_id"]) == ("success", planned["occurrence_id"])
    assert run["energy_source"] in ("counter", "integration")
    assert 0 < run["energy_wh"] < 1, "300 W for a second or two"
    assert run["profile"]["n_samples"] >= 2
    month = wait_until(lambda: settled(person), 30, box.log)
    assert month["runs"] == 1
    assert month["saved_against_earliest"] > 0
    print(f"\nran at {run['actual_start']}: {run['energy_wh']:.3g} Wh ({run['energy_source']}), {month}")
    assert box.stop() == 0


def done(result):
    assert result.returncode == 0, result.stderr


def rolled_up(person):
    """The one run, once its samples are counted."""
    runs = person.call("GET", "/api/v1/runs").body["results"]
    return next((run for run in runs if run["profile"]), None)


def settled(person):
    """The month's savings, once they are known."""
    months = person.call("GET", "/api/v1/savings").body
    return next((month for month in months if month["cost"] is not None), None)
