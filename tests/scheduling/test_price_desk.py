"""The desk for markets and prices in the admin."""

from io import BytesIO

import pytest
from django.urls import reverse

from scheduling.models import Market, PriceDocument, PricePoint
from tests.scheduling.people import MIDNIGHT, make_market, publish

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(client, maintainer):
    client.force_login(maintainer)
    return client


def upload(desk, market, text):
    file = BytesIO(text.encode())
    file.name = "prices.csv"
    return desk.post(reverse("admin:scheduling_market_prices", args=[market.pk]), {"file": file}, follow=True)


def test_a_maintainer_loads_prices_from_a_file(desk):
    market = Market.objects.get(slug="cz")
    answer = upload(desk, market, "start,end,price_per_mwh\n2026-08-20T00:00Z,2026-08-20T01:00Z,97.21\n")
    assert "1 prices stored." in answer.text
    assert PricePoint.objects.get(market=market, is_forecast=False).document.source == "csv"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("start,end,price_per_mwh\n2026-08-20T00:00,2026-08-20T01:00Z,1\n", "Line 2 has a time without an offset"),
        ("start,end,price_per_kwh\n2026-08-20T00:00Z,2026-08-20T01:00Z,97.21\n", "uarantined: 97.21 EUR/kWh at"),
        ("", "empty"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(desk, text, words):
    assert words in upload(desk, Market.objects.get(slug="cz"), text).text
    assert not PricePoint.objects.exists()


def test_the_desk_says_how_far_prices_are_known(desk, django_assert_max_num_queries):
    market = make_market(0.1)
    with django_assert_max_num_queries(8):
        text = desk.get(reverse("admin:scheduling_market_changelist")).text
    assert "Aug. 20, 2026, 1 a.m." in text
    assert "a fixed tariff" in text
    assert "missing from" in desk.get(reverse("admin:scheduling_market_change", args=[market.pk])).text


def test_a_quarantined_document_is_confirmed_at_the_desk(desk):
    market = make_market(0.1)
    document = publish(market, 97.21, start=MIDNIGHT)
    path = reverse("admin:scheduling_pricedocument_changelist")
    listed = desk.get(path).context["cl"].result_list
    assert listed[0] == document, "what needs a person comes first"
    assert len(listed) == 3
    answer = desk.post(path, {"action": "confirm_selected", "_selected_action": [document.pk]}, follow=True)
    assert "1 taken." in answer.text
    assert not PriceDocument.objects.filter(status="quarantined").exists()
    assert PricePoint.objects.filter(price_per_kwh="97.21", superseded_at=None).exists()


def test_periods_that_leave_a_minute_without_a_price_are_refused_in_the_form(desk):
    market = Market.objects.get(is_default=True)
    fields = {"slug": market.slug, "name": market.name, "currency": "EUR", "timezone": "", "is_default": "on"}
    feeds = {"feeds-TOTAL_FORMS": "0", "feeds-INITIAL_FORMS": "0"}
    path = reverse("admin:scheduling_market_change", args=[market.pk])
    rows = '[{"from": "06:00", "to": "22:00", "price": "0.3"}]'
    answer = desk.post(path, {**fields, **feeds, "periods": rows})
    assert "no period gives a price" in answer.text
    rows = '[{"from": "00:00", "to": "24:00", "price": "0.3"}]'
    assert desk.post(path, {**fields, **feeds, "periods": rows}).status_code == 302
    market.refresh_from_db()
    assert market.periods[0]["price"] == "0.3"
    assert market.history.count() == 1


def test_nobody_types_over_a_price(desk):
    make_market(0.1)
    point = PricePoint.objects.first()
    page = desk.get(reverse("admin:scheduling_pricepoint_change", args=[point.pk]))
    assert page.status_code == 200
    assert '<input type="text" name="price_per_kwh"' not in page.text
    assert desk.get(reverse("admin:scheduling_pricepoint_delete", args=[point.pk])).status_code == 403


def test_what_accounts_schedule_is_not_the_maintainers_to_see(desk):
    for model in ("workflow", "scheduleversion", "runrecord"):
        assert desk.get(reverse(f"admin:scheduling_{model}_changelist")).status_code == 403
