"""What a user pays: (spot + supplier fee + grid fee + levies) x (1 + VAT), by weekday and wall time."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.errors import PricesRefused
from scheduling.prices.coverage import gaps, local_day
from scheduling.prices.fixed import fixed_points
from scheduling.prices.periods import expanded, periods_from, price_at
from scheduling.prices.tariff import Formula, formula_from, payable_points
from tests.scheduling.prices import START, hours
from tests.scheduling.zones import clock_changes, every_zone

STOCKHOLM = ZoneInfo("Europe/Stockholm")
DAY_NIGHT = [
    {"from": "06:00", "to": "22:00", "price": "0.32"},
    {"from": "22:00", "to": "06:00", "price": "0.22"},
]
WEEKEND = [
    {"days": "mon-fri", "from": "07:30", "to": "20:10", "price": "0.40"},
    {"days": "mon-fri", "from": "20:10", "to": "24:00", "price": "0.30"},
    {"days": "mon-fri", "from": "00:00", "to": "07:30", "price": "0.30"},
    {"days": "sat,sun", "from": "00:00", "to": "24:00", "price": "0.20"},
]


def test_the_formula_adds_fees_before_vat():
    formula = Formula(Decimal("0.02"), Decimal("0.03"), Decimal("0.05"), Decimal("0.25"))
    paid = payable_points(hours("-0.01", "0.10"), formula)
    assert [p.price_per_kwh for p in paid] == [Decimal("0.1125"), Decimal("0.25")]


def test_a_negative_spot_price_stays_negative_where_no_fee_covers_it():
    assert payable_points(hours("-0.5"), Formula())[0].price_per_kwh == Decimal("-0.5")


def test_the_grid_fee_splits_an_hour_in_which_it_changes():
    rows = [{"days": "mon-fri", "from": "17:30", "to": "20:00", "price": "0.10"}]
    stored = {"grid_fee": "0.02", "grid_periods": rows, "vat": "0"}
    formula = formula_from(stored, ZoneInfo("UTC"))
    thursday = datetime(2026, 8, 20, 17, tzinfo=UTC)
    paid = payable_points(hours("0.1", "0.1", start=thursday), formula)
    assert [(p.start, p.price_per_kwh) for p in paid] == [
        (thursday, Decimal("0.12")),
        (thursday + timedelta(minutes=30), Decimal("0.20")),
        (thursday + timedelta(minutes=60), Decimal("0.20")),
    ]
    saturday = datetime(2026, 8, 22, 18, tzinfo=UTC)
    assert payable_points(hours("0.1", start=saturday), formula)[0].price_per_kwh == Decimal("0.12")


def test_a_fixed_tariff_holds_by_the_clock_on_the_wall():
    points = fixed_points(DAY_NIGHT, STOCKHOLM, START, START + timedelta(days=2))
    cheap = [p for p in points if p.price_per_kwh == Decimal("0.22")]
    assert [p.start.astimezone(STOCKHOLM).hour for p in cheap[1:]] == [22, 22]
    assert not gaps(points, START, START + timedelta(days=2))


@pytest.mark.parametrize("day", [date(2025, 10, 26), date(2026, 3, 29)])
def test_night_is_an_hour_longer_or_shorter_when_the_clock_changes(day):
    start, end = local_day(STOCKHOLM, day)
    points = fixed_points(DAY_NIGHT, STOCKHOLM, start, end)
    night_h = sum((p.end - p.start).total_seconds() for p in points if p.price_per_kwh == Decimal("0.22")) / 3600
    assert night_h == (9 if day.month == 10 else 7)


@pytest.mark.parametrize("rows", [DAY_NIGHT, WEEKEND])
def test_every_instant_of_every_clock_change_has_the_price_of_its_wall_time(rows):
    periods = periods_from(rows)
    for name in every_zone():
        zone = ZoneInfo(name)
        for change in clock_changes(name)[:2]:
            start, end = change - timedelta(hours=3), change + timedelta(hours=3)
            points = expanded(periods, zone, start, end)
            assert (points[0].start, points[-1].end) == (start, end)
            assert all(a.end == b.start for a, b in pairwise(points))
            for point in points:
                for at in (point.start, point.end - timedelta(minutes=1)):
                    assert price_at(periods, zone, at) == point.price_per_kwh


@given(minute=st.integers(0, 7 * 24 * 60 - 1))
def test_a_period_that_passes_midnight_belongs_to_the_day_it_began(minute):
    rows = [
        {"days": "fri", "from": "22:00", "to": "06:00", "price": "1"},
        {"days": "sat-thu", "from": "22:00", "to": "06:00", "price": "2"},
        {"from": "06:00", "to": "22:00", "price": "3"},
    ]
    monday = datetime(2026, 8, 17, tzinfo=UTC)
    at = monday + timedelta(minutes=minute)
    price = price_at(periods_from(rows), ZoneInfo("UTC"), at)
    friday_night = monday + timedelta(days=4, hours=22) <= at < monday + timedelta(days=5, hours=6)
    assert price == (3 if 6 <= at.hour < 22 else 1 if friday_night else 2)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"from": "06:00", "to": "22:00", "price": "0.3"}], "no period gives a price"),
        ([*DAY_NIGHT, {"days": "sun", "from": "12:00", "to": "13:00", "price": "0"}], "2 periods give"),
        ([{"from": "25:00", "to": "22:00", "price": "0.3"}], "is no period"),
        ([{"days": "caturday", "from": "00:00", "to": "24:00", "price": "0.3"}], "is no period"),
        ([{"from": "00:00", "to": "24:00", "price": "free"}], "is no period"),
        ([{"from": "00:00", "to": "24:00", "price": "NaN"}], "is no period"),
        ([{"from": "00:00", "price": "1"}], "is no period"),
        ([{"from": 22, "to": "06:00", "price": "1"}], "is no period: its `from` is 22"),
        ([{"from": "22:00", "to": None, "price": "1"}], "is no period: its `to` is None"),
        ([{"from": "00:00", "to": "24:00", "price": True}], "is no period: its `price` is True"),
        ([{"days": 5, "from": "00:00", "to": "24:00", "price": "1"}], "is no period: its `days` is 5"),
        (["mon-fri"], "is no period"),
    ],
)
def test_periods_that_can_not_hold_are_refused_with_the_row_or_the_time(rows, words):
    with pytest.raises(PricesRefused, match=words):
        periods_from(rows)


@pytest.mark.parametrize(
    "price", ["1e30", "-1e30", "1000", "-1000", "0.1234567891", "1e-10", "Infinity", "-Infinity", 1e30]
)
def test_a_price_that_no_fee_can_have_is_refused_with_what_can(price):
    with pytest.raises(PricesRefused, match="its `price` is .* and 1000 with at most 9 decimal"):
        periods_from([{"from": "00:00", "to": "24:00", "price": price}])


@pytest.mark.parametrize("price", ["999.999999999", "-999.999999999", "0.100000000000", "1e2", 0.21, 3])
def test_a_price_that_a_fee_can_have_is_taken(price):
    (period,) = periods_from([{"from": "00:00", "to": "24:00", "price": price}])
    assert period.price_per_kwh == Decimal(str(price))


JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.sampled_from(["22:00", "0.1", "sat"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=5,
)
ROW = {"days": "all", "from": "22:00", "to": "06:00", "price": "0.1"}


def taken_or_refused(rows):
    """The periods, and the words of the refusal where there are none."""
    try:
        return periods_from(rows, whole_week=False), "Write one such as"
    except PricesRefused as refusal:
        return (), refusal.detail


@given(name=st.sampled_from(sorted(ROW)), value=JSON)
def test_a_field_of_any_json_type_is_read_or_refused(name, value):
    periods, words = taken_or_refused([{**ROW, name: value}])
    assert "Write one such as" in words
    for period in periods:
        assert isinstance(value, str if name != "price" else str | int | float)
        assert abs(period.price_per_kwh) < 1000


@given(rows=JSON)
def test_rows_of_any_json_type_are_read_or_refused(rows):
    periods, words = taken_or_refused(rows)
    assert (periods, "Write one such as" in words) == ((), True)
