"""Occurrences: one a day or week, at the same wall time, through every clock change."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from scheduling.humantime import UnreadableTimeError
from scheduling.recurrence import occurrences
from tests.scheduling.zones import clock_changes, every_zone, one_zone_of_each_kind

STOCKHOLM = ZoneInfo("Europe/Stockholm")


def at(text: str, zone: ZoneInfo = STOCKHOLM) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


def windows(**kwargs) -> list[tuple[str, str, str]]:
    found = occurrences(zone=STOCKHOLM, **kwargs)
    return [(o.name.isoformat(), o.earliest_start.echo, o.deadline.echo) for o in found]


def test_a_daily_window_runs_from_the_start_before_the_deadline():
    assert windows(
        deadline="by 7am", earliest_start="22:00", recurrence="daily", now=at("2026-08-20T12:00"), many=2
    ) == [
        ("2026-08-21", "2026-08-20T22:00+02:00", "2026-08-21T07:00+02:00"),
        ("2026-08-22", "2026-08-21T22:00+02:00", "2026-08-22T07:00+02:00"),
    ]


def test_without_a_start_a_window_runs_from_the_deadline_before_and_the_first_from_now():
    assert windows(deadline="by 7am", recurrence="daily", now=at("2026-08-20T12:00"), many=2) == [
        ("2026-08-21", "2026-08-20T12:00+02:00", "2026-08-21T07:00+02:00"),
        ("2026-08-22", "2026-08-21T07:00+02:00", "2026-08-22T07:00+02:00"),
    ]


def test_a_weekly_deadline_is_on_its_weekday_or_on_that_of_the_first():
    monday = at("2026-08-17T12:00")
    by_name = windows(deadline="by friday 7am", recurrence="weekly", now=monday, many=2)
    assert [name for name, _, _ in by_name] == ["2026-08-21", "2026-08-28"]
    by_first = windows(deadline="by 7am", recurrence="weekly", now=at("2026-08-20T12:00"), since=monday, many=2)
    assert [name for name, _, _ in by_first] == ["2026-08-25", "2026-09-01"]


def test_a_weekly_window_may_open_on_another_weekday():
    (window,) = windows(
        deadline="by monday 7am", earliest_start="friday 18:00", recurrence="weekly", now=at("2026-08-20T12:00")
    )
    assert window == ("2026-08-24", "2026-08-21T18:00+02:00", "2026-08-24T07:00+02:00")


def test_once_a_start_without_date_belongs_to_the_night_before_its_deadline():
    """Said at 23:00, "from 22:00 by 7am" means the window that is already open."""
    (window,) = windows(deadline="by 7am", earliest_start="22:00", now=at("2026-08-20T23:00"))
    assert window == ("2026-08-21", "2026-08-20T22:00+02:00", "2026-08-21T07:00+02:00")


def test_without_a_deadline_a_window_lasts_24_hours():
    assert windows(deadline=None, earliest_start="22:00", now=at("2026-08-20T12:00")) == [
        ("2026-08-21", "2026-08-20T22:00+02:00", "2026-08-21T22:00+02:00")
    ]
    daily = windows(deadline=None, earliest_start="22:00", recurrence="daily", now=at("2026-08-20T12:00"), many=2)
    assert [name for name, _, _ in daily] == ["2026-08-21", "2026-08-22"]


@pytest.mark.parametrize("text", ["in 4 h", "today 7am", "tomorrow 7am", "2026-08-21T07:00"])
def test_what_names_one_day_does_not_recur(text):
    with pytest.raises(UnreadableTimeError, match="can't recur"):
        windows(deadline=text, recurrence="daily", now=at("2026-08-20T06:00"))


def test_a_weekday_recurs_weekly_not_daily():
    with pytest.raises(UnreadableTimeError, match="recurs weekly"):
        windows(deadline="by friday 7am", recurrence="daily", now=at("2026-08-20T06:00"))


def test_a_start_after_the_deadline_is_refused():
    with pytest.raises(UnreadableTimeError, match="not before the deadline"):
        windows(deadline="today 18:00", earliest_start="today 19:00", now=at("2026-08-20T06:00"))


def test_the_skipped_and_the_repeated_hour_make_one_occurrence_each():
    spring = windows(deadline="2:30", recurrence="daily", now=at("2026-03-27T12:00"), many=3)
    assert [(n, d) for n, _, d in spring] == [
        ("2026-03-28", "2026-03-28T02:30+01:00"),
        ("2026-03-29", "2026-03-29T03:00+02:00"),
        ("2026-03-30", "2026-03-30T02:30+02:00"),
    ]
    autumn = windows(deadline="2:30", earliest_start="2:15", recurrence="daily", now=at("2026-10-24T12:00"), many=2)
    assert autumn == [
        ("2026-10-25", "2026-10-25T02:15+02:00", "2026-10-25T02:30+01:00"),
        ("2026-10-26", "2026-10-26T02:15+01:00", "2026-10-26T02:30+01:00"),
    ]


def without_deadline(zone: ZoneInfo, clock: str, now: datetime) -> list[tuple[date, datetime]]:
    found = occurrences(deadline=None, earliest_start=clock, recurrence="daily", now=now, zone=zone, many=4)
    return [(one.name, one.earliest_start.local.replace(tzinfo=None)) for one in found]


@pytest.mark.parametrize("clock", ["00:00", "00:30", "07:00", "23:30"])
@pytest.mark.parametrize("name", one_zone_of_each_kind())
def test_a_daily_job_without_a_deadline_loses_no_night_at_a_clock_change(name, clock):
    for change in clock_changes(name):
        found = without_deadline(ZoneInfo(name), clock, change - timedelta(days=3))
        names = [one for one, _ in found]
        assert names == [names[0] + timedelta(days=n) for n in range(4)], change


@pytest.mark.parametrize(
    ("clock", "now"), [("midnight", "2026-10-23T12:00"), ("23:30", "2026-03-26T12:00"), ("23:30", "2026-08-20T12:00")]
)
def test_without_a_deadline_each_name_is_the_day_after_its_start(clock, now):
    found = without_deadline(STOCKHOLM, clock, at(now))
    assert len({name for name, _ in found}) == 4
    assert all(name == start.date() + timedelta(days=1) for name, start in found)


def check_daily_through(name: str, change: datetime) -> None:
    """Around a clock change: each date once, at its wall time wherever that exists, 22 to 26 hours apart."""
    zone = ZoneInfo(name)
    for clock in ("00:00", "00:30", "02:00", "02:30", "07:00", "23:30"):
        found = occurrences(deadline=clock, recurrence="daily", now=change - timedelta(days=2), zone=zone, many=4)
        names = [o.name for o in found]
        assert names == [names[0] + timedelta(days=n) for n in range(4)]
        for one, following in zip(found, found[1:], strict=False):
            hours = (following.deadline.instant - one.deadline.instant) / timedelta(hours=1)
            assert 22 <= hours <= 26, (name, clock, one)
            assert following.earliest_start.instant == one.deadline.instant
        for one in found:
            wall = datetime.combine(one.name, datetime.strptime(clock, "%H:%M").time())
            exists = wall.replace(tzinfo=zone).astimezone(UTC).astimezone(zone).replace(tzinfo=None) == wall
            assert (one.deadline.local.replace(tzinfo=None) == wall) == exists
            assert exists or one.deadline.instant in clock_changes(name), (name, clock, one)


@pytest.mark.parametrize("name", one_zone_of_each_kind())
def test_a_daily_job_keeps_its_wall_time_through_the_clock_changes_of_each_kind(name):
    for change in clock_changes(name):
        check_daily_through(name, change)


@pytest.mark.slow
@pytest.mark.parametrize("name", every_zone())
def test_a_daily_job_keeps_its_wall_time_through_the_clock_changes_of_every_zone(name):
    for change in clock_changes(name):
        check_daily_through(name, change)


def test_the_name_is_the_local_date_of_the_deadline_even_at_midnight():
    assert [o.name for o in occurrences(
        deadline="midnight", recurrence="daily", now=at("2026-08-20T12:00"), zone=STOCKHOLM, many=2
    )] == [date(2026, 8, 21), date(2026, 8, 22)]  # fmt: skip
