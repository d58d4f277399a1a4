"""The controller's clocks: waiting through the clock that a test may run faster."""

import threading
import time
from datetime import timedelta

import pytest
from asyncenergy_controller import clock

A_DAY_IN_A_TENTH_OF_A_SECOND = 864_000


@pytest.fixture
def fast(monkeypatch):
    monkeypatch.setenv(clock.TEST_CLOCK, f"{time.time()},{A_DAY_IN_A_TENTH_OF_A_SECOND}")


def test_a_day_is_waited_for_in_a_moment_of_the_fast_clock(fast):
    begun_s = time.monotonic()
    assert clock.wait(threading.Event(), 86_400) is False
    assert 0.09 < time.monotonic() - begun_s < 5


def test_a_wait_ends_when_its_event_is_set(fast):
    event = threading.Event()
    event.set()
    assert clock.wait(event, 1e9) is True


def test_a_wait_for_what_has_passed_returns_at_once():
    assert clock.wait(threading.Event(), -5) is False


def test_sleeping_until_an_instant_reaches_it_on_the_fast_clock(fast):
    instant = clock.now() + timedelta(hours=12)
    clock.sleep_until(instant)
    assert instant <= clock.now()


def test_an_instant_on_the_fast_clock_is_near_on_the_monotonic_one(fast):
    in_a_day_s = clock.monotonic_at(clock.now() + timedelta(days=1)) - clock.monotonic()
    assert in_a_day_s == pytest.approx(0.1, abs=0.05)


def test_without_a_test_clock_both_clocks_run_alike():
    assert clock.factor() == 1.0
    in_a_minute_s = clock.monotonic_at(clock.now() + timedelta(minutes=1)) - clock.monotonic()
    assert in_a_minute_s == pytest.approx(60, abs=0.01)
