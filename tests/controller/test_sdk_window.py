"""The cheapest window, as the SDK asks for it and waits for it."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest
from asyncenergy_controller import AsyncEnergy, clock
from asyncenergy_controller.sdk import NoWindow
from asyncenergy_controller.sdk.window import window_of
from asyncenergy_controller.server import RequestRefused, ServerFailed, ServerUnreachable
from asyncenergy_controller.settings import SettingsError
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.controller.bench_server import fake_server
from tests.controller.test_server_schedule import anything

ADVISE = "/api/v1/advise"
ADVICE = {
    "start": "2026-12-02T02:15:00+00:00",
    "end": "2026-12-02T05:15:00+00:00",
    "grid_cost": 0.21,
    "now_cost": 0.34,
    "savings": 0.13,
    "predicted_wh": 1050.0,
    "feasible": True,
    "reason": "",
    "prediction_method": "nameplate",
    "degraded": False,
    "currency": "EUR",
    "smallest_change": None,
}
NEVER = ADVICE | {
    "start": None,
    "end": None,
    "feasible": False,
    "reason": "duration 5h > window 3h30",
    "smallest_change": "a deadline of 08:30",
}


@pytest.fixture
def server():
    with fake_server() as fake:
        fake.will(ADVISE, (200, ADVICE))
        yield fake


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    for name in ("CONFIG_DIR", "STATE_DIR", "DATA_DIR"):
        monkeypatch.setenv(f"ASYNCENERGY_{name}", str(tmp_path / name.lower()))


@pytest.fixture
def energy(server):
    with AsyncEnergy(api_key="ae_key", api_url=server.url) as energy:
        yield energy


def asked(server):
    return server.at(ADVISE)[0].json


def test_a_window_says_when_and_what_it_saves(energy, server):
    window = energy.next_window(duration_s=3 * 3600, deadline="by 7am", watts=350)
    assert asked(server) == {"est_duration_s": 10800, "deadline": "by 7am", "nameplate_watts": 350}
    assert window.feasible
    assert (window.start, window.end) == (
        datetime(2026, 12, 2, 2, 15, tzinfo=UTC),
        datetime(2026, 12, 2, 5, 15, tzinfo=UTC),
    )
    assert (window.predicted_wh, window.cost, window.now_cost, window.savings) == (1050.0, 0.21, 0.34, 0.13)
    assert (window.currency, window.prediction_method, window.degraded) == ("EUR", "nameplate", False)


def test_lengths_and_times_may_be_objects(energy, server):
    berlin = datetime.fromisoformat("2026-12-02T07:00:00+01:00")
    energy.next_window(
        timedelta(minutes=90), deadline=berlin, earliest_start=berlin - timedelta(hours=6), name="nightly"
    )
    sent = asked(server)
    assert (sent["est_duration_s"], sent["deadline"]) == (5400, "2026-12-02T06:00:00+00:00")
    assert sent["earliest_start"] == "2026-12-02T00:00:00+00:00"
    assert len(sent["fingerprint"]) == 32


def test_a_time_without_a_zone_is_this_machines(energy, server, monkeypatch):
    monkeypatch.setenv("TZ", "America/Los_Angeles")
    time.tzset()
    try:
        energy.next_window(60, deadline=datetime(2026, 12, 2, 7, 0))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert asked(server)["deadline"] == "2026-12-02T15:00:00+00:00"


def test_what_the_server_can_not_read_is_said_in_its_words(energy, server):
    refusal = {
        "detail": "That can't be used.",
        "code": "invalid",
        "errors": [{"attr": "deadline", "detail": "can't use 'whenever' as a time"}],
    }
    server.will(ADVISE, (400, refusal))
    with pytest.raises(RequestRefused, match="deadline: can't use 'whenever' as a time"):
        energy.next_window(60, deadline="whenever")


@pytest.mark.parametrize("length", [float("nan"), float("inf"), 0, timedelta(hours=-1)])
def test_a_length_that_no_work_has_is_said_at_once(energy, server, length):
    with pytest.raises(ValueError, match="seconds above 0"):
        energy.next_window(length, deadline="by 7am")


def test_a_server_that_is_away_is_said_so():
    with AsyncEnergy("ae_key", api_url="http://127.0.0.1:9") as energy, pytest.raises(ServerUnreachable):
        energy.next_window(60, deadline="by 7am")


def test_a_setting_that_can_not_be_is_said_at_once():
    with pytest.raises(SettingsError, match="api_url"):
        AsyncEnergy("ae_key", api_url="energy.example")


def test_without_a_window_waiting_says_why_and_what_would_fit(energy, server):
    server.will(ADVISE, (200, NEVER))
    window = energy.next_window(5 * 3600, deadline="by 7am")
    assert (window.feasible, window.start, window.reason) == (False, None, "duration 5h > window 3h30")
    with pytest.raises(NoWindow, match=r"duration 5h > window 3h30\. It would fit with .*08:30"):
        window.wait()
    with pytest.raises(NoWindow):
        asyncio.run(window.wait_async())


@pytest.fixture
def fast_clock(monkeypatch):
    """An hour in 0.2 s."""
    monkeypatch.setenv(clock.TEST_CLOCK, f"{time.time()},18000")


def soon():
    return window_of(ADVICE | {"start": (clock.now() + timedelta(hours=1)).isoformat()})


def test_waiting_ends_when_the_window_begins(fast_clock):
    begun_s, window = time.monotonic(), soon()
    window.wait()
    assert clock.now() >= window.start
    assert 0.1 < time.monotonic() - begun_s < 10


def test_waiting_lets_other_tasks_go_on(fast_clock):
    window = soon()

    async def main():
        waiting, ticks = asyncio.create_task(window.wait_async()), 0
        while not waiting.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return ticks

    assert asyncio.run(main()) > 4
    assert clock.now() >= window.start


def test_a_window_that_has_begun_is_not_waited_for():
    begun_s = time.monotonic()
    window_of(ADVICE | {"start": "2020-01-01T00:00:00+00:00"}).wait()
    assert time.monotonic() - begun_s < 5


def test_asking_lets_other_tasks_go_on(energy):
    window = asyncio.run(energy.next_window_async(60, deadline="by 7am", watts=100))
    assert window.feasible


@pytest.mark.parametrize("answer", [{}, ADVICE | {"start": None}, ADVICE | {"feasible": "yes"}, ADVICE | {"end": 5}])
def test_an_answer_that_is_no_advice_is_a_failure_of_the_server(energy, server, answer):
    server.will(ADVISE, (200, answer))
    with pytest.raises(ServerFailed, match="can't be read"):
        energy.next_window(60, deadline="by 7am")


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(ADVICE)), anything, max_size=5))
def test_no_advice_makes_it_crash(values):
    try:
        window = window_of(ADVICE | values)
    except ServerFailed:
        return
    assert window.feasible == (window.start is not None)
