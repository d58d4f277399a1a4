"""When is it cheapest: the answer of a public market for anybody, in words, chart and table."""

from datetime import timedelta

import pytest

from scheduling.models import Market
from scheduling.selectors.windows import cheapest_window
from tests.bench.pages_html import read
from tests.scheduling.people import NOON, at, make_market, publish

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("noon")]
PAGE = "/when-is-it-cheapest/"
NIGHT = [0.30] * 24 + [0.25, 0.20, 0.10, 0.12, 0.20, 0.28] + [0.40] * 18


@pytest.fixture
def market(db):
    return make_market(*NIGHT)


def ask(client, **asked):
    return read(client.get(PAGE, asked))


def drawn(page, name):
    return [attributes for tag, attributes in page.elements if tag == "tr" and name in attributes]


def test_the_cheapest_hours_before_the_deadline_are_the_answer(client, market):
    page = ask(client, hours="2", watts="500", deadline="by 7am")
    assert "Friday 02:00 to 04:00" in page.text
    assert "11.0 ct/kWh on average, against 30.0 ct/kWh begun now" in page.text
    assert "11.0 ct" in page.text
    assert "+19.0 ct saved" in page.text


def test_page_and_selector_give_one_number(client, market):
    found = cheapest_window("hourly", duration_s=7200, deadline=at(7, 21))
    page = ask(client, hours="2", deadline="by 7am")
    assert f"{100 * found.price_per_kwh:.1f} ct/kWh on average" in page.text
    assert f"{100 * found.price_random_per_kwh:.1f} ct/kWh at a random moment" in page.text


def test_chart_and_table_hold_the_price_of_every_hour_that_is_shown(client, market):
    rows = drawn(ask(client, hours="2", deadline="by 7am"), "data-price")
    assert [float(row["data-price"]) for row in rows] == [30.0] * 12 + [25, 20, 10, 12, 20, 28] + [40] * 3
    assert [row["data-left"] for row in rows if "data-busy" in row] == [str(14 * 3600), str(15 * 3600)]
    (lane,) = drawn(ask(client, hours="2", deadline="by 7am"), "data-runs")
    assert lane["data-runs"] == f"{14 * 3600}-{16 * 3600}"


def test_a_job_that_does_not_fit_is_told_why_and_what_would_help(client, market):
    page = ask(client, hours="4", earliest="5am", deadline="by 7am")
    assert "It takes up to 4 h, and its window has 2 h." in page.text
    assert "deadline 2 h later" in page.text
    assert "saved" not in page.text


@pytest.mark.parametrize(("field", "words"), [("deadline", "whenever"), ("earliest", "25:00")])
def test_a_time_that_can_not_be_read_is_said_at_its_field(client, market, field, words):
    response = client.get(PAGE, {field: words})
    assert response.status_code == 200
    page = read(response)
    assert f"asked-{field}_error" in page.values("id")
    assert words in page.text
    assert drawn(page, "data-price") == []


@pytest.mark.parametrize("asked", [{"hours": "x"}, {"hours": "-1"}, {"watts": "1e999"}, {"market": "nowhere"}])
def test_nonsense_is_named_and_the_usual_is_answered(client, market, asked):
    page = ask(client, **asked)
    assert page.values("data-chart") == ["plan"]
    assert [field for field in page.values("id") if field.endswith("_error")] == [f"asked-{next(iter(asked))}_error"]


def test_a_forecast_is_marked_as_one(client, market):
    market.points.filter(start__gte=at(0, 21)).update(is_forecast=True)
    page = ask(client, hours="2", deadline="by 7am")
    assert "has published prices; the rest is a forecast" in page.text
    assert {row.get("data-forecast") for row in drawn(page, "data-price")[12:]} == {"yes"}
    assert "dashed where it is a forecast" in page.text


def test_only_markets_with_prices_can_be_chosen(client, market):
    Market.objects.create(slug="empty", name="Empty", currency="EUR", timezone="UTC")
    options = [attributes["value"] for attributes in ask(client).all("option")]
    assert "hourly" in options
    assert "empty" not in options


def test_a_site_without_any_market_says_so(client, db):
    Market.objects.all().delete()
    assert "No prices are known now" in ask(client).text


def test_times_are_those_of_the_market(client, noon):
    market = make_market(*NIGHT)
    Market.objects.filter(pk=market.pk).update(timezone="Europe/Berlin")
    page = ask(client, hours="2", deadline="by 7am")
    assert "Friday 04:00 to 06:00" in page.text
    assert "Time (Europe/Berlin)" in page.text
    assert [times["datetime"] for times in page.all("time")][0] == "2026-08-21T04:00:00+02:00"


def test_an_hour_that_comes_twice_is_two_rows_and_marks_stay_on_the_clock(client, noon):
    noon.move_to(NOON.replace(month=10, day=24))
    start = NOON.replace(month=10, day=24, hour=0)
    market = make_market(slug="berlin")
    Market.objects.filter(pk=market.pk).update(timezone="Europe/Berlin")
    publish(market, *[0.1 + hour / 100 for hour in range(72)], start=start, now=NOON)
    page = ask(client, hours="1", deadline="by 7am")
    assert page.html.count('+02:00">02:00') + page.html.count('+01:00">02:00') == 4, "as a start and as an end"
    (chart,) = [attributes for _, attributes in page.elements if "data-chart" in attributes]
    assert '[36000, "Sun 00:00"], [43200, "02:00"], [46800, "02:00"], [54000, "04:00"]' in chart["data-ticks"]


def test_htmx_gets_the_answer_alone_and_the_address(client, market):
    response = client.get(PAGE, {"hours": "2", "deadline": "by 7am"}, headers={"hx-request": "true"})
    assert "<html" not in response.text
    assert response.text.strip().startswith('<div id="found">')
    assert response.headers["HX-Push-Url"] == f"{PAGE}?market=hourly&hours=2&watts=350&deadline=by+7am"
    assert "HX-Request" in response.headers["Vary"]


def test_the_page_asks_the_database_little(client, market, django_assert_num_queries):
    with django_assert_num_queries(4):
        ask(client)


def test_the_prices_of_the_page_are_those_in_force(client, market):
    publish(market, *[0.05] * 48, start=at(0), now=NOON + timedelta(minutes=1))
    assert "5.0 ct/kWh on average" in ask(client).text
