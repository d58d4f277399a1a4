"""Time may run faster in a test, the same in every process."""

from datetime import UTC, datetime

import pytest
import time_machine
from asyncenergy_controller import clock as box

from asyncenergy import clock

REAL = datetime(2026, 8, 20, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _real_time():
    with time_machine.travel(REAL, tick=False):
        yield


def test_without_a_setting_it_is_the_time_of_day(monkeypatch):
    monkeypatch.delenv(clock.TEST_CLOCK, raising=False)
    assert clock.now() == REAL


def test_a_week_passes_in_ten_minutes(monkeypatch):
    ten_minutes_ago = REAL.timestamp() - 600
    monkeypatch.setenv(clock.TEST_CLOCK, f"{ten_minutes_ago},1008")
    assert (clock.now() - REAL).total_seconds() == pytest.approx(7 * 24 * 3600 - 600)


def test_the_box_and_the_server_read_the_same_time(monkeypatch):
    monkeypatch.setenv(clock.TEST_CLOCK, f"{REAL.timestamp() - 7},1000")
    assert clock.now() == box.now()
