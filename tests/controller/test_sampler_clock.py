"""The two clocks."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from asyncenergy_controller import clock
from asyncenergy_controller.errors import UsageError


def test_now_is_aware_and_in_utc(monkeypatch):
    monkeypatch.delenv(clock.TEST_CLOCK, raising=False)
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(seconds=5)
    assert clock.now().tzinfo is UTC


def test_a_compressed_hour_passes_in_a_minute(monkeypatch):
    monkeypatch.setenv(clock.TEST_CLOCK, "1790000000,60")
    monkeypatch.setattr(time, "time", lambda: 1790000060.0)
    assert clock.now() == datetime.fromtimestamp(1790003600, UTC)


@pytest.mark.parametrize("setting", ["soon", "1,2,3", "1790000000"])
def test_an_unreadable_test_clock_is_refused(monkeypatch, setting):
    monkeypatch.setenv(clock.TEST_CLOCK, setting)
    with pytest.raises(UsageError, match="epoch,factor"):
        clock.now()


def test_production_refuses_a_test_clock(monkeypatch):
    monkeypatch.setenv(clock.TEST_CLOCK, "1790000000,60")
    monkeypatch.setenv("ASYNCENERGY_ENV", "production")
    with pytest.raises(UsageError, match="production"):
        clock.now()


def test_intervals_are_measured_on_a_clock_that_goes_on_during_sleep():
    begun_s = clock.monotonic()
    time.sleep(0.01)
    assert 0.01 <= clock.monotonic() - begun_s < 1
    if hasattr(time, "CLOCK_BOOTTIME"):
        assert clock._CLOCK_ID == time.CLOCK_BOOTTIME
