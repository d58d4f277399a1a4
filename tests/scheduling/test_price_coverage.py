"""A day is complete when its time is covered from local midnight to local midnight, never by counting rows."""

from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.errors import PricesRefused
from scheduling.prices.bounds import out_of_bounds
from scheduling.prices.coverage import gaps, is_complete, local_day, mean_price, tidy
from scheduling.prices.layers import change, touching, underneath
from scheduling.prices.types import SpotPoint
from tests.scheduling.prices import START, czech_quarters, hours
from tests.scheduling.zones import clock_changes, every_zone

HELSINKI, TALLINN, BERLIN = ZoneInfo("Europe/Helsinki"), ZoneInfo("Europe/Tallinn"), ZoneInfo("Europe/Berlin")
HOUR = timedelta(hours=1)


def covering(zone: ZoneInfo, day: date, minutes: int) -> list[SpotPoint]:
    start, end = local_day(zone, day)
    return hours(*[0.1] * int((end - start) / timedelta(minutes=minutes)), start=start, minutes=minutes)


@pytest.mark.parametrize(
    ("zone", "day", "length_h"),
    [
        (HELSINKI, date(2025, 10, 26), 25),
        (HELSINKI, date(2026, 3, 29), 23),
        (TALLINN, date(2025, 10, 26), 25),
        (BERLIN, date(2026, 8, 20), 24),
        (ZoneInfo("Australia/Lord_Howe"), date(2026, 4, 5), 24.5),
        (ZoneInfo("America/Havana"), date(2026, 3, 8), 23),
    ],
)
def test_a_local_day_is_as_long_as_its_clock_says(zone, day, length_h):
    start, end = local_day(zone, day)
    assert end - start == timedelta(hours=length_h)
    assert all(p.start.astimezone(zone).date() == day for p in covering(zone, day, 15))


def test_the_25_h_day_keeps_both_hours_that_the_clock_shows_twice():
    quarters = covering(HELSINKI, date(2025, 10, 26), 15)
    walls = [p.start.astimezone(HELSINKI) for p in quarters]
    assert len(quarters) == 100
    assert len({(w.replace(tzinfo=None, fold=0), w.utcoffset()) for w in walls}) == 100
    assert sum((p.end - p.start).total_seconds() for p in quarters) == 90_000
    at_three = [p.start for p, w in zip(quarters, walls, strict=True) if (w.hour, w.minute) == (3, 0)]
    assert [b - a for a, b in pairwise(at_three)] == [HOUR]


@pytest.mark.parametrize("minutes", [5, 15, 30, 60])
def test_any_resolution_completes_any_day(minutes):
    for zone in (HELSINKI, BERLIN):
        for day in (date(2025, 10, 26), date(2026, 3, 29), date(2026, 8, 20)):
            points = covering(zone, day, minutes)
            assert is_complete(points, zone, day)
            assert not is_complete(points[:-1], zone, day)
            assert not is_complete(points[:3] + points[4:], zone, day)


def test_resolutions_may_mix_within_a_day():
    points = covering(BERLIN, date(2026, 8, 20), 60)
    mixed = [*points[:12], *hours(*[0.1] * 48, start=points[12].start, minutes=15)]
    assert is_complete(mixed, BERLIN, date(2026, 8, 20))


def test_a_day_of_central_european_delivery_is_two_halves_of_helsinki_days():
    central = covering(BERLIN, date(2026, 8, 20), 60)
    assert not is_complete(central, HELSINKI, date(2026, 8, 20)), "its first hour was delivered the day before"
    before = covering(BERLIN, date(2026, 8, 19), 60)
    assert is_complete(before + central, HELSINKI, date(2026, 8, 20))


def test_a_gap_is_named_by_its_instants():
    points = hours(1, 2, 3, 4)
    holes = gaps([points[0], points[3]], START - HOUR, START + 5 * HOUR)
    assert holes == [
        (START - HOUR, START),
        (START + HOUR, START + 3 * HOUR),
        (START + 4 * HOUR, START + 5 * HOUR),
    ]


def test_a_price_published_twice_in_two_steps_counts_once():
    hour, quarters = hours(0.2), hours(0.2, 0.2, 0.2, 0.2, minutes=15)
    for published in ([*hour, *quarters], [*quarters, *hour]):
        assert mean_price(tidy(published), START, START + HOUR) == Decimal("0.2")
        assert sum((p.end - p.start for p in tidy(published)), timedelta()) == HOUR


def test_two_prices_for_one_time_are_refused():
    with pytest.raises(PricesRefused, match="Two prices"):
        tidy([*hours(0.2), *hours(0.3)])


def test_an_hour_of_halves_has_their_mean_and_not_the_first():
    halves = hours(0.10, 0.30, minutes=30)
    assert mean_price(halves, START, START + HOUR) == Decimal("0.2")
    assert mean_price(halves, START, START + 2 * HOUR) is None, "half of it has no price"


@pytest.mark.parametrize(("price", "currency", "is_believed"), [
    ("-0.5", "EUR", True),
    ("-0.61", "EUR", False),
    ("0", "EUR", True),
    ("4.999", "EUR", True),
    ("97.21", "EUR", False),
    ("2.5", "CZK", True),
    ("97.21", "CZK", True),
    ("2500", "CZK", False),
])  # fmt: skip
def test_prices_are_believed_within_bounds(price, currency, is_believed):
    assert (out_of_bounds(hours(price), currency) is None) == is_believed


PRICES = st.lists(st.integers(-3, 3), min_size=1, max_size=8)


@given(stored=PRICES, published=PRICES, offset=st.integers(0, 8), step=st.sampled_from([15, 30, 60]))
def test_storing_a_publication_changes_its_time_and_nothing_else(stored, published, offset, step):
    old = hours(*stored)
    new = hours(*published, start=START + offset * timedelta(minutes=15), minutes=step)
    difference = change(old, new)
    after = sorted([*(p for p in old if p not in difference.superseded), *difference.remainders, *difference.new])
    assert all(a.end <= b.start for a, b in pairwise(after)), "each time has one price"
    for i in range(8 * 4 + 16 * 4):
        at = START + i * timedelta(minutes=15)
        expected = price_at(new, at) if price_at(new, at) is not None else price_at(old, at)
        assert price_at(after, at) == expected
    again = change(after, new)
    assert again.new == ()


def price_at(points, instant):
    return next((p.price_per_kwh for p in points if p.start <= instant < p.end), None)


def test_a_forecast_shows_only_where_nothing_is_published():
    forecast, published = hours(1, 1, 1, 1), hours(5, 5, start=START + timedelta(minutes=90))
    left = underneath(forecast, published)
    assert [(p.start, p.end) for p in left] == [
        (START, START + HOUR),
        (START + HOUR, START + timedelta(minutes=90)),
        (START + timedelta(minutes=210), START + 4 * HOUR),
    ]
    assert list(touching(published, left[0])) == []


def test_the_recorded_year_names_its_missing_days_and_keeps_its_long_and_short_ones(shared_data):
    days = czech_quarters(shared_data)
    zone = ZoneInfo("Europe/Prague")
    assert len(days[date(2025, 10, 26)]) == 100
    assert len(days[date(2026, 3, 29)]) == 92
    assert all(is_complete(points, zone, day) for day, points in days.items())
    everything = sorted(p for points in days.values() for p in points)
    missing = gaps(everything, everything[0].start, everything[-1].end)
    named = [begin.astimezone(zone).date() for begin, end in missing]
    assert named == [date(2026, 4, 27), date(2026, 5, 4), date(2026, 5, 27), date(2026, 6, 8)]
    assert len(days) == 321


def test_the_days_of_every_zone_follow_one_another_without_hole_or_overlap():
    for name in every_zone():
        zone = ZoneInfo(name)
        for change_at in clock_changes(name):
            day = change_at.astimezone(zone).date()
            for before in (day - timedelta(days=1), day):
                (_, end), (start, _) = local_day(zone, before), local_day(zone, before + timedelta(days=1))
                assert end == start
                assert start.astimezone(zone).date() == before + timedelta(days=1)
                assert (start - timedelta(seconds=1)).astimezone(zone).date() == before
