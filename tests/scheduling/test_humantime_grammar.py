"""What people say about time, and what it means."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from scheduling.humantime import Resolved, UnreadableTimeError, at_wall, read, resolve

STOCKHOLM = ZoneInfo("Europe/Stockholm")
LOS_ANGELES = ZoneInfo("America/Los_Angeles")


def said(text: str, now: str, zone: ZoneInfo = STOCKHOLM, edge="deadline") -> Resolved:
    local = datetime.fromisoformat(now).replace(tzinfo=zone)
    return resolve(read(text), now=local.astimezone(UTC), zone=zone, edge=edge)


@pytest.mark.parametrize(
    ("text", "now", "echo"),
    [
        ("by 7am", "2026-08-20T06:00", "2026-08-20T07:00+02:00"),
        ("by 7am", "2026-08-20T08:00", "2026-08-21T07:00+02:00"),
        ("before 7:30 pm", "2026-08-20T08:00", "2026-08-20T19:30+02:00"),
        ("22:00", "2026-08-20T08:00", "2026-08-20T22:00+02:00"),
        ("at 7", "2026-08-20T08:00", "2026-08-21T07:00+02:00"),
        ("12am", "2026-08-20T08:00", "2026-08-21T00:00+02:00"),
        ("12pm", "2026-08-20T08:00", "2026-08-20T12:00+02:00"),
        ("noon", "2026-08-20T12:00", "2026-08-21T12:00+02:00"),
        ("by midnight", "2026-08-20T08:00", "2026-08-21T00:00+02:00"),
        ("today 18:00", "2026-08-20T08:00", "2026-08-20T18:00+02:00"),
        ("tomorrow 18:00", "2026-08-20T08:00", "2026-08-21T18:00+02:00"),
        ("by 7am tomorrow", "2026-08-20T06:00", "2026-08-21T07:00+02:00"),
        ("by friday 7am", "2026-08-20T08:00", "2026-08-21T07:00+02:00"),
        ("Fri at 7am", "2026-08-21T08:00", "2026-08-28T07:00+02:00"),
        ("friday 7am", "2026-08-21T06:00", "2026-08-21T07:00+02:00"),
        ("in 4 h", "2026-08-20T08:00", "2026-08-20T12:00+02:00"),
        ("in 90 min", "2026-08-20T08:00", "2026-08-20T09:30+02:00"),
        ("2026-08-20T09:00", "2026-08-20T08:00", "2026-08-20T09:00+02:00"),
        ("2026-08-20T09:00Z", "2026-08-20T08:00", "2026-08-20T11:00+02:00"),
        ("2026-08-20 09:00:30", "2026-08-20T08:00", "2026-08-20T09:00:30+02:00"),
    ],
)
def test_what_is_said_is_echoed_with_its_offset(text, now, echo):
    assert said(text, now).echo == echo


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "by",
        "7ish",
        "25:00",
        "7:60",
        "13pm",
        "0am",
        "7:5",
        "tomorrow",
        "friday",
        "next friday 7am",
        "in h",
        "in -3 h",
        "in 4 weeks",
        "2026-13-01T09:00",
        "2026-08-20",
        "9999-12-31T23:59",
        "7am 8am",
        "by by 7am",
        "٧:٠٠",
    ],
)
def test_anything_else_is_refused_with_examples(text):
    with pytest.raises(UnreadableTimeError, match="by 7am"):
        read(text)


def test_a_deadline_with_a_past_date_is_refused_and_a_start_is_not():
    with pytest.raises(UnreadableTimeError, match="2026-08-20T07:00\\+02:00 is already past"):
        said("today 7am", "2026-08-20T08:00")
    assert said("today 7am", "2026-08-20T08:00", edge="start").echo == "2026-08-20T07:00+02:00"


def test_a_weekday_is_the_speakers_not_utcs():
    """At 17:00 on Thursday in Los Angeles it is Friday in UTC."""
    thursday_evening = said("friday 7am", "2026-08-20T17:30", LOS_ANGELES)
    assert thursday_evening.echo == "2026-08-21T07:00-07:00"


def test_hours_of_a_clock_change_are_counted_as_they_pass():
    """From 20:00 to 07:00 on the night of 2026-10-24 twelve hours pass, not eleven."""
    start, end = said("20:00", "2026-10-24T12:00", edge="start"), said("by 7am", "2026-10-24T20:30")
    assert end.instant - start.instant == timedelta(hours=12)
    assert said("in 12 h", "2026-10-24T20:00").echo == "2026-10-25T07:00+01:00"


def test_a_wall_time_that_does_not_exist_is_the_first_instant_after_the_gap():
    assert said("2:30", "2026-03-28T20:00").echo == "2026-03-29T03:00+02:00"
    assert said("2:30", "2026-03-28T20:00", edge="start").echo == "2026-03-29T03:00+02:00"


def test_a_wall_time_that_exists_twice_is_the_first_for_a_start_and_the_second_for_a_deadline():
    assert said("2:30", "2026-10-24T20:00", edge="start").echo == "2026-10-25T02:30+02:00"
    assert said("2:30", "2026-10-24T20:00", edge="deadline").echo == "2026-10-25T02:30+01:00"


def test_a_half_hour_gap_ends_on_the_half_hour():
    lord_howe = ZoneInfo("Australia/Lord_Howe")
    assert at_wall(datetime(2026, 10, 4, 2, 15), lord_howe, edge="start") == datetime(2026, 10, 3, 15, 30, tzinfo=UTC)


def test_a_naive_now_is_refused():
    with pytest.raises(ValueError, match="without a time zone"):
        resolve(read("by 7am"), now=datetime(2026, 8, 20), zone=STOCKHOLM, edge="deadline")


def test_only_a_time_without_a_date_recurs():
    assert [read(t).recurs for t in ("by 7am", "friday 7am", "tomorrow 7am", "in 4 h", "2026-08-20T09:00")] == [
        True, True, False, False, False,
    ]  # fmt: skip
    assert read("12am").clock == time(0)
