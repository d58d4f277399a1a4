"""Tomorrow's prices before they are published: the same time of recent like days, and nothing invented."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from benchmarks.forecast import rows as benchmark_rows
from scheduling.prices.coverage import gaps, local_day, local_midnight
from scheduling.prices.forecast import by_local_day, day_forecast, day_slots, forecast_points, slot_minutes
from tests.scheduling.prices import czech_quarters, hours

BERLIN = ZoneInfo("Europe/Berlin")
MONDAY = date(2026, 8, 17)


def shaped_days(n: int, first: date = date(2026, 7, 20)) -> list:
    """Days whose price follows the local hour; weekends are flat."""
    points = []
    for i in range(n):
        day = first + timedelta(days=i)
        for begin, end, slot in day_slots(BERLIN, day, 60):
            weekday = 0.2 + 0.1 * np.cos(slot / 24 * 2 * np.pi)
            points += hours(round(float(weekday if day.weekday() < 5 else 0.2), 6), start=begin)
            assert points[-1].end == end
    return points


def test_a_weekday_is_forecast_from_weekdays():
    known = shaped_days(28)
    start, end = local_day(BERLIN, MONDAY)
    expected = forecast_points(known, BERLIN, start, end)
    cheapest = min(expected, key=lambda p: p.price_per_kwh)
    assert cheapest.start.astimezone(BERLIN).hour == 12
    sunday = forecast_points(known[: -24 * 7], BERLIN, *local_day(BERLIN, date(2026, 8, 16)))
    spread = max(p.price_per_kwh for p in sunday) - min(p.price_per_kwh for p in sunday)
    assert spread < max(p.price_per_kwh for p in expected) - cheapest.price_per_kwh


@pytest.mark.parametrize("day", [date(2025, 10, 26), date(2026, 3, 29), date(2026, 8, 20)])
@pytest.mark.parametrize("minutes", [15, 30, 60])
def test_a_forecast_day_has_the_length_of_the_local_day(day, minutes):
    first = day - timedelta(days=21)
    start = local_midnight(BERLIN, first)
    until = local_midnight(BERLIN, day)
    known = hours(*[0.1] * int((until - start) / timedelta(minutes=minutes)), start=start, minutes=minutes)
    begin, end = local_day(BERLIN, day)
    expected = forecast_points(known, BERLIN, begin, end)
    assert slot_minutes(known) == minutes
    assert not gaps(expected, begin, end)
    assert {float(p.price_per_kwh) for p in expected} == {0.1}


def test_without_any_known_day_nothing_is_forecast():
    start, end = local_day(BERLIN, MONDAY)
    assert forecast_points([], BERLIN, start, end) == []
    half_a_day = hours(*[0.1] * 12, start=start - timedelta(hours=24))
    assert forecast_points(half_a_day, BERLIN, start, end) == []


def test_an_hour_of_a_day_that_is_missing_is_no_zero():
    known = shaped_days(28)
    holed = [p for i, p in enumerate(known) if i % 24 != 12 or i < 24 * 21]
    start, end = local_day(BERLIN, MONDAY)
    whole, partly = (forecast_points(points, BERLIN, start, end) for points in (known, holed))
    assert all(abs(a.price_per_kwh - b.price_per_kwh) < 0.02 for a, b in zip(whole, partly, strict=True))


def test_a_double_hour_is_the_mean_of_both():
    day = date(2025, 10, 26)
    start, _ = local_day(BERLIN, day)
    prices = [0.1] * 25
    prices[2], prices[3] = 0.2, 0.4
    slots = by_local_day(hours(*prices, start=start), BERLIN, day, day, 60)[day]
    assert slots[2] == pytest.approx(0.3)
    assert not np.isnan(slots).any()


def test_a_constant_moves_the_forecast_by_itself():
    history = {MONDAY - timedelta(days=i): np.arange(24.0) * i for i in range(1, 20)}
    raised = {day: slots + 7 for day, slots in history.items()}
    assert np.allclose(day_forecast(raised, MONDAY), day_forecast(history, MONDAY) + 7)


def test_days_after_the_forecast_are_not_looked_at():
    history = {MONDAY - timedelta(days=i): np.arange(24.0) for i in range(1, 8)}
    assert np.array_equal(day_forecast(history, MONDAY), day_forecast(history | {MONDAY: np.zeros(24) - 5}, MONDAY))


@pytest.mark.campaign
def test_it_beats_yesterdays_best_hours_on_every_recorded_series(shared_data):
    found = list(benchmark_rows(shared_data / "prices"))
    assert [(row.market, row.hours) for row in found] == [("DE", 2), ("DE", 4), ("PJM", 2), ("PJM", 4)]
    for row in found:
        assert row.ours > row.yesterday + 0.03
        assert row.ours < 1


def test_it_says_more_than_nothing_about_recorded_quarter_hours(shared_data):
    days = czech_quarters(shared_data)
    now = datetime(2026, 2, 10, 11, tzinfo=UTC)
    today = now.astimezone(ZoneInfo("Europe/Prague")).date()
    known = sorted(p for day, points in days.items() if day <= today for p in points)
    truth = days[today + timedelta(days=1)]
    expected = forecast_points(known, ZoneInfo("Europe/Prague"), truth[0].start, truth[-1].end)
    assert len(expected) == 96
    a, b = (np.array([float(p.price_per_kwh) for p in points]) for points in (truth, expected))
    assert np.corrcoef(a, b)[0, 1] > 0.7
