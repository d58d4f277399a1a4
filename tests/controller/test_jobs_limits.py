"""What the owner of a machine allows: hours by the clock on the wall, and runs of one day."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from asyncenergy_controller.jobs.entry import CommandRequest, JobEntry
from asyncenergy_controller.jobs.hours import AllowedHours
from asyncenergy_controller.jobs.limits import allowed_s, refusal
from hypothesis import given
from hypothesis import strategies as st

STOCKHOLM = ZoneInfo("Europe/Stockholm")
NIGHT = AllowedHours.parse("22:00-06:00")
INSTANTS = st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31), timezones=st.just(UTC))
MINUTES = st.integers(0, 1439).map(lambda minute: f"{minute // 60:02}:{minute % 60:02}")
SPANS = st.lists(
    st.tuples(MINUTES, MINUTES).filter(lambda pair: pair[0] != pair[1]).map("-".join), min_size=1, max_size=3
)
ZONES = st.sampled_from(["Europe/Stockholm", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"])


def utc(text):
    return datetime.fromisoformat(text).astimezone(UTC)


def job(**more):
    return JobEntry(workflow_id="w", framework="command", request=CommandRequest(command=("true",)), **more)


@pytest.mark.parametrize(
    ("wall", "inside"),
    [
        ("2026-06-01T21:59:59+02:00", False),
        ("2026-06-01T22:00:00+02:00", True),
        ("2026-06-02T00:00:00+02:00", True),
        ("2026-06-02T05:59:59+02:00", True),
        ("2026-06-02T06:00:00+02:00", False),
        ("2026-06-01T20:30:00+00:00", True),
    ],
)
def test_hours_reach_over_midnight_and_end_before_their_end(wall, inside):
    assert NIGHT.holds(utc(wall), STOCKHOLM) is inside


def test_several_spans_and_midnight_as_24_are_understood():
    hours = AllowedHours.parse(["12:00-13:00", "22:00-24:00"])
    at = [utc(f"2026-06-01T{clock}:00+00:00") for clock in ("11:59", "12:00", "13:00", "22:00", "23:59")]
    assert [hours.holds(one, UTC) for one in at] == [False, True, False, True, True]
    assert not hours.holds(utc("2026-06-02T00:00:00+00:00"), UTC)


def test_the_whole_day_may_be_said():
    assert AllowedHours.parse("00:00-24:00").holds(utc("2026-06-01T00:00:00+00:00"), UTC)
    assert AllowedHours.parse("00:00-24:00").closes(utc("2026-06-01T00:00:00+00:00"), UTC) is None


def test_an_hour_that_comes_twice_is_inside_twice():
    hours = AllowedHours.parse("02:00-03:00")
    assert hours.holds(utc("2026-10-25T02:30:00+02:00"), STOCKHOLM)
    assert hours.holds(utc("2026-10-25T02:30:00+01:00"), STOCKHOLM)
    assert hours.closes(utc("2026-10-25T02:00:00+02:00"), STOCKHOLM) == utc("2026-10-25T03:00:00+01:00")


def test_an_end_in_the_hour_that_comes_twice_is_the_first_of_both():
    hours = AllowedHours.parse("22:00-02:30")
    assert hours.closes(utc("2026-10-25T01:00:00+02:00"), STOCKHOLM) == utc("2026-10-25T02:30:00+02:00")
    assert hours.opens(utc("2026-10-25T02:45:00+02:00"), STOCKHOLM) == utc("2026-10-25T02:00:00+01:00")


def test_an_end_in_the_hour_that_is_left_out_is_when_the_clock_jumps():
    hours = AllowedHours.parse("22:00-02:30")
    assert hours.closes(utc("2026-03-29T01:00:00+01:00"), STOCKHOLM) == utc("2026-03-29T03:00:00+02:00")


def test_hours_that_a_day_leaves_out_open_on_the_next():
    hours = AllowedHours.parse("02:10-02:50")
    assert hours.opens(utc("2026-03-29T00:00:00+01:00"), STOCKHOLM) == utc("2026-03-30T02:10:00+02:00")


@given(SPANS, INSTANTS, ZONES)
def test_from_opening_to_closing_every_instant_is_inside(spans, at, zone):
    hours, zone = AllowedHours.parse(spans), ZoneInfo(zone)
    opens = hours.opens(at, zone)
    assert opens >= at
    assert hours.holds(opens, zone)
    assert opens == at or not hours.holds(opens - timedelta(seconds=1), zone)
    closes = hours.closes(opens, zone)
    if closes is not None:
        assert not hours.holds(closes, zone)
        assert hours.holds(closes - timedelta(seconds=1), zone)


def test_a_job_outside_its_hours_is_held_with_the_hours_in_words():
    assert "22:00-06:00" in refusal(job(allowed_hours=NIGHT), utc("2026-06-01T12:00:00+02:00"), [], STOCKHOLM)
    assert refusal(job(allowed_hours=NIGHT), utc("2026-06-01T23:00:00+02:00"), [], STOCKHOLM) is None


def test_without_hours_a_job_may_run_at_any_time():
    assert refusal(job(), utc("2026-06-01T12:00:00+02:00"), [], STOCKHOLM) is None
    assert allowed_s(job(), utc("2026-06-01T12:00:00+02:00"), STOCKHOLM) is None


def test_the_time_until_the_hours_close_is_known():
    assert allowed_s(job(allowed_hours=NIGHT), utc("2026-06-02T05:30:00+02:00"), STOCKHOLM) == 1800
    assert allowed_s(job(allowed_hours=NIGHT), utc("2026-06-02T05:59:30+02:00"), STOCKHOLM) == 30


def test_runs_count_by_the_local_day():
    yesterday, today = utc("2026-06-01T23:59:00+02:00"), utc("2026-06-02T00:01:00+02:00")
    assert refusal(job(max_runs_per_day=1), today, [yesterday], STOCKHOLM) is None
    said = refusal(job(max_runs_per_day=1), today, [yesterday, today], STOCKHOLM)
    assert said == "it has run 1 times today, and max_runs_per_day is 1"


@given(st.lists(INSTANTS, max_size=6), INSTANTS, st.integers(0, 4), ZONES)
def test_no_day_ever_gets_more_runs_than_allowed(starts, at, most, zone):
    zone, run = ZoneInfo(zone), []
    for start in sorted([*starts, at]):
        if refusal(job(max_runs_per_day=most), start, run, zone) is None:
            run.append(start)
    days = [start.astimezone(zone).date() for start in run]
    assert all(days.count(day) <= most for day in days)


def test_the_zone_of_this_machine_is_used_where_none_is_given(monkeypatch):
    import time

    monkeypatch.setenv("TZ", "America/Los_Angeles")
    time.tzset()
    try:
        assert NIGHT.holds(utc("2026-06-01T22:30:00-07:00"))
        assert not NIGHT.holds(utc("2026-06-01T22:30:00+02:00"))
    finally:
        monkeypatch.undo()
        time.tzset()
