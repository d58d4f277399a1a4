"""The words of a deadline that gives a job more time: exactly the minutes it lacks, and none where no words do."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.windows import Words, later_deadline, windows

PRAGUE = ZoneInfo("Europe/Prague")
NOON = datetime(2026, 8, 20, 12, tzinfo=UTC)


def words(deadline="by 7am", earliest="", recurrence="daily", now=NOON, zone=PRAGUE):
    return Words(deadline, earliest, recurrence, now, zone)


def later(minutes, now=NOON, **said):
    meant = words(**said, now=now)
    return later_deadline(meant, windows(meant, now=now)[0], minutes, now=now)


@pytest.mark.parametrize(
    ("said", "minutes", "offered"),
    [
        ({}, 20, "by 07:20"),
        ({"earliest": "22:00"}, 45, "by 07:45"),
        ({"recurrence": "weekly", "deadline": "by friday 7am"}, 90, "by friday 08:30"),
        ({"recurrence": "weekly", "deadline": "by friday 23:50"}, 20, "by saturday 00:10"),
        ({"recurrence": "none", "deadline": "2026-08-21T07:00"}, 20, "2026-08-21T07:20+02:00"),
        ({"recurrence": "none", "deadline": "in 4 h"}, 20, "2026-08-20T18:20+02:00"),
    ],
)
def test_it_is_said_as_the_owner_would_say_it(said, minutes, offered):
    assert later(minutes, **said) == offered


@pytest.mark.parametrize(
    ("said", "minutes"),
    [
        ({"earliest": "22:00"}, 15 * 60 + 30),  # the next opening lies before it
        ({}, 24 * 60),
        ({"recurrence": "weekly", "deadline": "by friday 7am"}, 7 * 24 * 60),
    ],
)
def test_what_recurs_can_not_take_longer_than_until_its_next_time(said, minutes):
    assert later(minutes, **said) is None


def test_a_night_of_a_clock_change_is_counted_in_real_minutes():
    now = datetime(2026, 10, 24, 12, tzinfo=UTC)
    assert later(90, now=now, deadline="by 1:30", earliest="22:00") == "by 02:00", "that comes twice: the second"


ZONES = st.sampled_from(["Europe/Prague", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"]).map(
    ZoneInfo
)


@given(
    st.integers(1, 3000),
    st.sampled_from(["none", "daily", "weekly"]),
    st.integers(0, 400 * 24),
    ZONES,
    st.sampled_from(["", "22:00", "3am"]),
)
def test_what_is_offered_gives_exactly_the_minutes_asked_for(minutes, recurrence, hours, zone, earliest):
    now = NOON + timedelta(hours=hours)
    said = {"deadline": "by 7am", "earliest": earliest if recurrence != "none" else "", "recurrence": recurrence}
    offered = later(minutes, now=now, zone=zone, **said)
    window = windows(words(**said, now=now, zone=zone), now=now)[0]
    if offered is not None:
        changed = windows(words(**{**said, "deadline": offered}, now=now, zone=zone), now=now)
        assert window.deadline + timedelta(minutes=minutes) in [one.deadline for one in changed]
    elif recurrence == "none":
        pytest.fail("an instant can always be said")
