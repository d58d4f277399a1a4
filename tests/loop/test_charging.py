"""A plug that a real controller holds on for a real server's plan: off again at its end, and after `kill -9`."""

from datetime import UTC, datetime

import pytest

from tests.contract.old_client import OldClient
from tests.controller.fake_switches import fake_switch
from tests.loop.harness import Box, FastClock, wait_until
from tests.loop.server import Server

pytestmark = pytest.mark.campaign
AFTERNOON = datetime(2026, 11, 10, 17, 30, tzinfo=UTC)
TWENTY_MINUTES_A_SECOND = 1200.0


@pytest.fixture
def plug():
    with fake_switch() as fake:
        yield fake


@pytest.fixture(scope="module")
def server(tmp_path_factory, empty_database):
    clock = FastClock.reaching(AFTERNOON, TWENTY_MINUTES_A_SECOND)
    server = Server(tmp_path_factory.mktemp("charging") / "var", empty_database, clock.setting)
    server.clock = clock
    server.start()
    yield server
    server.stop()


@pytest.fixture
def box(tmp_path, server, request):
    """Somebody's machine, with a key of the account in its settings."""
    person = OldClient(server.url, f"{request.node.name[:40]}@example.org")
    assert person.signup().status == 201
    key = person.call("POST", "/api/v1/keys", {"name": "box", "scope": "all"}).body["key"]
    box = Box(tmp_path / "box", server.url, key, server.clock)
    box.person = person
    yield box
    box.end()


def runs(box):
    return box.person.call("GET", "/api/v1/runs").body["results"]


def held(box):
    """What the box remembers of plugs that may be on."""
    return list((box.home / "state" / "switches").glob("*.json"))


def register(box, plug, hold_s):
    what = ("--framework", "charge", "--switch", f"shelly:{plug.address}", "--hold", str(hold_s))
    done = box.call("register", "--name", "robot", "--deadline", "in 6 h", "--nameplate-watts", "300", *what)
    assert done.returncode == 0, done.stderr


def test_a_plug_is_held_on_for_its_time_and_off_afterwards(plug, box):
    register(box, plug, hold_s=1800)
    box.start()
    (run,) = wait_until(lambda: runs(box), 60, box.log)
    assert (run["exit_status"], run["framework"]) == ("success", "charge")
    assert run["work_unit_kind"] == "Wh"
    assert run["work_units"] == pytest.approx(1.5, rel=0.3), "3600 W for 1.5 s of our time"
    assert plug.turned() == [True, False]
    assert not plug.is_on
    assert held(box) == []


def test_after_kill_9_the_plug_is_off_as_soon_as_the_controller_is_back(plug, box):
    register(box, plug, hold_s=7200)
    box.start()
    wait_until(lambda: plug.is_on, 60, box.log)
    box.kill()
    assert plug.is_on
    assert len(held(box)) == 1
    box.start()
    wait_until(lambda: not plug.is_on, 20, box.log)
    wait_until(lambda: runs(box), 30, box.log)
    assert runs(box)[-1]["exit_status"] == "preempted"


def test_ending_the_controller_ends_the_charge(plug, box):
    register(box, plug, hold_s=7200)
    box.start()
    wait_until(lambda: plug.is_on, 60, box.log)
    assert box.stop() == 0
    assert not plug.is_on
    assert held(box) == []
