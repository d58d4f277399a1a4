"""Asking for the schedule: at a steady pace, slower after failures, never blind to a server that began anew."""

import pytest
from asyncenergy_controller import clock
from asyncenergy_controller.loop.kept import FILE, KeptSchedule
from asyncenergy_controller.loop.polling import FROM_SCRATCH_S, Pace, Poller
from asyncenergy_controller.server import NotLoggedIn, ServerClient, ServerUnreachable

from tests.controller.loop_plans import body, placement
from tests.controller.loop_server import UNAUTHORISED, loop_server
from tests.controller.report_server import settings_for


@pytest.fixture
def server():
    with loop_server() as server:
        yield server


@pytest.fixture
def steady(monkeypatch):
    """A monotonic clock that a test moves."""
    time = [1000.0]
    monkeypatch.setattr(clock, "monotonic", lambda: time[0])

    def pass_s(seconds):
        time[0] += seconds

    return pass_s


def poller_of(server, tmp_path, **values):
    settings = settings_for(server, tmp_path, **values)
    kept = KeptSchedule(tmp_path, whose=[settings.api_url, "box"])
    return Poller(ServerClient(settings, attempts=1), kept, controller_id="box", interval_s=60)


def test_the_first_question_is_for_anything_and_the_next_for_what_is_newer(server, tmp_path):
    server.publish(body(placement(), version=7))
    poller = poller_of(server, tmp_path)
    poller.poll()
    poller.poll()
    assert server.polls == [-1, 7]
    assert server.boxes == {"box"}
    assert poller.schedule.version == 7


def test_without_a_server_the_schedule_on_disk_is_followed(server, tmp_path):
    server.publish(body(placement(), version=7))
    poller_of(server, tmp_path).poll()
    server.always = (503, {"detail": "not now"})
    later = poller_of(server, tmp_path)
    later.poll()
    assert later.schedule.version == 7
    assert later.problem is not None


def test_a_server_that_began_anew_with_lower_numbers_is_heard_within_the_hour(server, tmp_path, steady):
    server.publish(body(placement(), version=70))
    poller = poller_of(server, tmp_path)
    poller.poll()
    server.publish(body(version=2))
    steady(FROM_SCRATCH_S + 1)
    poller.poll()
    assert poller.schedule.version == 2


def test_a_server_without_any_plan_ends_the_one_that_was_followed(server, tmp_path):
    server.publish(body(placement(), version=7))
    poller_of(server, tmp_path).poll()
    server.publish(None)
    fresh = poller_of(server, tmp_path)
    fresh.poll()
    assert fresh.schedule is None
    assert poller_of(server, tmp_path).schedule is None


def test_a_schedule_that_cannot_be_kept_is_followed_all_the_same(server, tmp_path, caplog):
    server.publish(body(placement(), version=7))
    poller = poller_of(server, tmp_path)
    (tmp_path / FILE).mkdir()
    poller.poll()
    assert poller.schedule.version == 7
    assert "can't be kept on disk" in caplog.text


def test_a_refused_key_is_told_in_the_servers_words(server, tmp_path):
    server.always = UNAUTHORISED
    poller = poller_of(server, tmp_path)
    poller.poll()
    assert isinstance(poller.problem, NotLoggedIn)
    assert poller.problem.message == "This key is not valid."


def test_nobody_there_is_told_too(tmp_path):
    poller = poller_of("http://127.0.0.1:9", tmp_path)
    poller.poll()
    assert isinstance(poller.problem, ServerUnreachable)


def test_an_answer_that_is_no_schedule_changes_nothing(server, tmp_path):
    server.publish(body(placement(), version=7))
    poller = poller_of(server, tmp_path)
    poller.poll()
    server.always = (200, {"hello": "world"})
    poller.poll()
    assert (poller.schedule.version, poller.problem is None) == (7, False)
    server.always = None
    poller.poll()
    assert poller.problem is None


def test_a_server_that_is_away_is_asked_ever_less_often_and_at_the_old_pace_once_it_is_back(steady):
    pace, waits = Pace(60), []
    for _ in range(12):
        pace.failed()
        waits.append(pace.left_s())
        steady(waits[-1])
    assert waits[0] <= 5
    assert waits[-1] == 300
    assert waits[1] > waits[0]
    pace.worked()
    assert 54 <= pace.left_s() <= 66


def test_boxes_that_started_together_do_not_ask_together(steady):
    paces = [Pace(60) for _ in range(20)]
    for pace in paces:
        pace.worked()
    assert len({round(pace.left_s(), 3) for pace in paces}) > 10


def test_before_a_start_the_schedule_is_asked_for_again_unless_that_was_just_done(server, tmp_path, steady):
    server.publish(body(placement(), version=7))
    poller = poller_of(server, tmp_path)
    poller.poll()
    poller.freshen()
    assert len(server.polls) == 1
    steady(6)
    poller.freshen()
    assert len(server.polls) == 2


def test_a_server_that_is_away_does_not_hold_a_start_up(server, tmp_path, steady):
    server.always = (503, {"detail": "not now"})
    poller = poller_of(server, tmp_path)
    poller.poll()
    steady(6)
    poller.freshen()
    assert len(server.calls) == 1
