"""Prices are stored once, versioned where they change, and set aside where they can't be right."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from hashlib import sha256

import pytest
from django.core.management import CommandError, call_command

from scheduling.errors import Conflict, PricesRefused
from scheduling.models import Market, PlanClaim, PriceDocument, PricePoint
from scheduling.prices.types import Fetched
from scheduling.selectors.prices import coverage_words, price_curve, settled_points
from scheduling.selectors.schedule import certificate_of, prices_of
from scheduling.services.prices import document_confirm, document_store, forecast_refresh, prices_load_csv
from tests.scheduling.people import MIDNIGHT, NOON, at, make_market, make_workflow, plan, publish
from tests.scheduling.prices import hours

pytestmark = pytest.mark.django_db
NO_FEES = {"supplier_fee": "0", "levies": "0", "grid_fee": "0", "vat": "0", "grid_periods": [], "timezone": "UTC"}
DAY = timedelta(days=1)


def stored(market: Market, start: datetime = MIDNIGHT, end: datetime = MIDNIGHT + DAY) -> list[Decimal]:
    return [p.price_per_kwh for p in settled_points(market, start, end)]


def test_the_same_publication_again_stores_nothing():
    market = make_market(0.1, 0.2)
    assert publish(market, 0.1, 0.2, start=MIDNIGHT) is None
    assert publish(market, 0.1, 0.1, 0.1, 0.1, start=MIDNIGHT, minutes=15) is None, "the same hour in quarters"
    assert PricePoint.objects.filter(market=market, is_forecast=False).count() == 2


def test_a_revised_price_is_a_new_version_and_the_old_one_stays():
    market = make_market(0.1, 0.2)
    publish(market, 0.15, start=MIDNIGHT)
    assert stored(market) == [Decimal("0.15"), Decimal("0.2")]
    old, new = PricePoint.objects.filter(market=market, is_forecast=False, start=MIDNIGHT).order_by("version")
    assert (old.version, old.price_per_kwh, old.superseded_at) == (1, Decimal("0.1"), NOON)
    assert (new.version, new.superseded_at, new.document.fetched_at) == (2, None, NOON)


def test_a_publication_over_part_of_an_hour_leaves_the_rest_of_it():
    market = make_market(0.1)
    publish(market, 0.3, start=MIDNIGHT + timedelta(minutes=15), minutes=15)
    points = settled_points(market, MIDNIGHT, MIDNIGHT + timedelta(hours=1))
    assert [(p.start.minute, p.end.minute, float(p.price_per_kwh)) for p in points] == [
        (0, 15, 0.1),
        (15, 30, 0.3),
        (30, 0, 0.1),
    ]


def test_an_unbelievable_price_is_quarantined_until_a_person_confirms_it():
    market = make_market(0.1)
    document = publish(market, 97.21, start=MIDNIGHT + DAY)
    assert document.status == "quarantined"
    assert "97.21 EUR/kWh" in document.reason
    assert stored(market, MIDNIGHT + DAY, MIDNIGHT + 2 * DAY) == []
    assert publish(market, 97.21, start=MIDNIGHT + DAY).pk == document.pk, "asked again, it is kept once"
    document_confirm(document=document, now=NOON)
    assert stored(market, MIDNIGHT + DAY, MIDNIGHT + 2 * DAY) == [Decimal("97.21")]
    assert not PriceDocument.objects.filter(status="quarantined").exists()
    with pytest.raises(Conflict):
        document_confirm(document=PriceDocument.objects.filter(status="accepted")[0])


def test_prices_in_another_currency_or_against_each_other_are_refused():
    market = make_market(0.1)
    dollars = Fetched("usd", "USD", tuple(hours(0.1)))
    twice = Fetched("twice", "EUR", (*hours(0.1), *hours(0.2)))
    for fetched, word in ((dollars, "USD"), (twice, "Two prices")):
        document = document_store(market=market, source="csv", fetched=fetched, now=NOON)
        assert (document.status, word in document.reason) == ("refused", True)
    assert stored(market) == [Decimal("0.1")]


def test_new_prices_make_every_account_on_the_market_due(submitter, other_submitter):
    market = make_market(0.1)
    make_workflow(submitter)
    PlanClaim.objects.update(due_at=None)
    publish(market, 0.2, start=at(1))
    assert PlanClaim.objects.get(account=submitter).due_at == NOON
    PlanClaim.objects.update(due_at=None)
    publish(Market.objects.get(slug="cz"), 0.2, start=at(1))
    assert PlanClaim.objects.get(account=submitter).due_at is None, "another market's prices change nothing"


def test_a_forecast_fills_what_is_not_published_and_gives_way_to_it():
    market = make_market(*[0.1] * 24 * 4, start=at(0, 17))
    curve = price_curve(market, NO_FEES, at(0, 20), at(0, 22))
    assert [p.is_forecast for p in curve.points] == [False] * 24 + [True] * 24
    assert curve.known_until == at(0, 21)
    assert curve.known_share(at(12), at(12, 21)) == pytest.approx(0.5)
    publish(market, *[0.3] * 24, start=at(0, 21))
    curve = price_curve(market, NO_FEES, at(0, 20), at(0, 22))
    assert not any(p.is_forecast for p in curve.points)
    assert curve.known_until == at(0, 22)


def test_prices_known_throughout_are_known_whatever_the_fraction_of_a_second():
    curve = price_curve(make_market(*[0.1] * 48), NO_FEES, at(0), at(0, 22))
    for microsecond in (1, 7, 131_313, 999_999):
        start = at(12) + timedelta(microseconds=microsecond)
        assert curve.known_share(start, at(20, 21)) == 1.0


def test_a_missing_price_is_missing_and_no_zero():
    market = make_market(0.1, 0.2)
    publish(market, 0.3, start=at(3))
    PricePoint.objects.filter(is_forecast=True).delete()
    curve = price_curve(market, NO_FEES, at(0), at(4))
    assert [(p.start.hour, float(p.price_per_kwh)) for p in curve.points] == [(0, 0.1), (1, 0.2), (3, 0.3)]
    assert curve.known_until == at(2)
    assert "missing from" in coverage_words(market, now=NOON)


def test_forecasting_again_replaces_the_forecast():
    market = make_market(*[0.1] * 48, start=at(0, 19))
    many = PricePoint.objects.filter(market=market, is_forecast=True).count()
    assert many >= 24 * 8
    assert forecast_refresh(market=market, now=NOON) == many
    assert PricePoint.objects.filter(market=market, is_forecast=True).count() == many
    assert PriceDocument.objects.filter(market=market, source="forecast").count() == 1


def test_the_default_market_needs_no_network_and_holds_by_the_accounts_clock():
    market = Market.objects.get(is_default=True)
    formula = {**NO_FEES, "timezone": "Europe/Stockholm"}
    curve = price_curve(market, formula, at(0), at(24))
    cheap = [p for p in curve.points if p.price_per_kwh < Decimal("0.3")]
    assert [p.start.hour for p in cheap] == [0, 20], "22:00 in Stockholm"
    assert coverage_words(market) == "a fixed tariff"


def test_the_command_loads_a_file_and_says_what_is_wrong_with_one(tmp_path, capsys):
    file = tmp_path / "prices.csv"
    file.write_text("start,end,price_per_mwh\n2026-08-20T00:00Z,2026-08-20T01:00Z,97.21\n")
    call_command("load_prices", "cz", str(file))
    call_command("load_prices", "cz", str(file))
    assert capsys.readouterr().out.splitlines() == ["1 prices stored for Czechia.", "All of these prices were known."]
    file.write_text("start,end,price_per_kwh\n2026-08-20T00:00Z,2026-08-20T01:00Z,97.21\n")
    with pytest.raises(CommandError, match="quarantined"):
        call_command("load_prices", "cz", str(file))
    with pytest.raises(CommandError, match="no market"):
        call_command("load_prices", "atlantis", str(file))
    with pytest.raises(CommandError, match="fixed tariff"):
        call_command("load_prices", "day-and-night", str(file))
    with pytest.raises(PricesRefused):
        prices_load_csv(market=Market.objects.get(slug="cz"), raw=b"\xff\xfe\x00")


def test_a_stored_price_names_its_source_document_and_time():
    make_market(0.1)
    point = PricePoint.objects.get(is_forecast=False)
    assert (point.document.source, point.document.fetched_at) == ("csv", NOON)
    assert point.document.document_id.startswith("test/")
    assert point.start == datetime(2026, 8, 20, tzinfo=UTC)


def test_prices_below_and_at_zero_are_real_prices():
    market = make_market(-0.5, 0, 0.1)
    assert stored(market) == [Decimal("-0.5"), Decimal(0), Decimal("0.1")]


def test_the_plan_keeps_the_hash_of_the_prices_it_was_made_with(submitter):
    make_market(*[0.30, 0.10] * 24)
    make_workflow(submitter, deadline="by 9am", recurrence="none")
    version = plan(submitter)
    certificate = certificate_of(submitter, version.number)
    prices = zip(certificate["edges_s"], certificate["price_per_kwh"], strict=False)
    lines = "".join(f"{edge:.0f} {price:.9f}\n" for edge, price in prices)
    assert certificate["prices_sha256"] == sha256(lines.encode()).hexdigest()
    assert [p["price_per_kwh"] for p in prices_of(version)["prices"]][:2] == ["0.3", "0.1"]
