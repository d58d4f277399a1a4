"""Prices are fetched when they may be there, from the next source where one fails, again and again where they slip."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import httpx2
import pytest

from scheduling.errors import NotYetPublished, PriceFeedError
from scheduling.models import Feed, Market, PricePoint, SchedulingAccount
from scheduling.prices import SOURCES
from scheduling.prices.types import Fetched
from scheduling.selectors.prices import settled_points
from scheduling.services.feeds import feeds_fetch_due, market_fetch, markets_in_use, wanted_until
from tests.scheduling.people import at, make_workflow
from tests.scheduling.prices import hours

pytestmark = pytest.mark.django_db
BERLIN = ZoneInfo("Europe/Berlin")


class Exchange:
    """Stands in for the sources: what each has, and who was asked for what."""

    def __init__(self, monkeypatch):
        self.has, self.asked = {}, []
        for name in SOURCES:
            monkeypatch.setitem(SOURCES, name, self._source(name))

    def _source(self, name):
        exchange = self

        class Source:
            def fetch(self, client, options, *, start, end):
                exchange.asked.append((name, start, end))
                found = exchange.has.get(name, NotYetPublished("nothing yet"))
                if isinstance(found, Exception):
                    raise found
                points = tuple(p for p in found if p.start >= start and p.end <= end)
                if not points:
                    raise NotYetPublished("nothing yet")
                return Fetched(f"{name}/{points[0].start}", "EUR", points)

        return Source()


@pytest.fixture
def exchange(monkeypatch):
    return Exchange(monkeypatch)


@pytest.fixture
def market(submitter):
    market = Market.objects.get(slug="de-lu")
    SchedulingAccount.objects.create(user=submitter, market=market)
    return market


def day(n: int, price: float = 0.1):
    """Prices of one delivery day in August 2026."""
    return hours(*[price] * 24, start=at(-2, n))


def test_only_markets_that_somebody_uses_are_asked_for(exchange, submitter):
    assert markets_in_use() == [], "the default market is a fixed tariff"
    feeds_fetch_due(now=at(12))
    assert exchange.asked == []
    SchedulingAccount.objects.create(user=submitter, market=Market.objects.get(slug="fr"))
    assert [market.slug for market in markets_in_use()] == ["fr"]


def test_tomorrow_is_wanted_from_the_auction_on(market):
    assert wanted_until(market, at(10)) == at(22), "12:00 in Berlin"
    assert wanted_until(market, at(11)) == at(22, 21), "13:00 in Berlin"


def test_the_first_fetch_looks_back_as_far_as_a_forecast_does(exchange, market):
    exchange.has["energy_charts"] = [p for n in range(1, 21) for p in day(n)]
    feeds_fetch_due(now=at(8))
    (name, start, end), *others = exchange.asked
    assert (name, start, end) == ("energy_charts", at(-2) - timedelta(days=56), at(22))
    assert not others, "everything is here, nobody else is asked"
    assert PricePoint.objects.filter(market=market, is_forecast=True).exists()
    feeds_fetch_due(now=at(10))
    assert len(exchange.asked) == 1, "nothing new can be there before the auction"


@pytest.mark.campaign
def test_an_auction_that_slips_is_asked_for_again_until_it_is_there(exchange, market, submitter):
    make_workflow(submitter)
    exchange.has["energy_charts"] = [p for n in range(14, 21) for p in day(n)]
    feeds_fetch_due(now=at(8))
    asked = []
    for minute in range(0, 4 * 60, 5):
        now = at(10.75 + minute / 60)
        if minute >= 180:
            exchange.has["energy_charts"] = [p for n in range(14, 22) for p in day(n)]
        before = len(exchange.asked)
        feeds_fetch_due(now=now)
        asked += [now] if len(exchange.asked) > before else []
    assert settled_points(market, at(22), at(22, 21)), "tomorrow came three hours late"
    waits = [b - a for a, b in zip(asked, asked[1:], strict=False)]
    assert max(waits) <= timedelta(minutes=30)
    assert asked[-1] < at(14.3)


def test_the_second_source_is_asked_where_the_first_fails(exchange, market):
    exchange.has["energy_charts"] = PriceFeedError("energy-charts.info gave no answer: status 502.")
    exchange.has["awattar"] = [p for n in range(1, 21) for p in day(n)]
    assert feeds_fetch_due(now=at(8)) == 1
    assert [name for name, _, _ in exchange.asked] == ["energy_charts", "awattar"], "no key, no ENTSO-E"
    assert settled_points(market, at(0), at(20))
    first = Feed.objects.get(market=market, source="energy_charts")
    assert (first.failures, "502" in first.last_error) == (1, True)
    assert PricePoint.objects.filter(market=market, is_forecast=False)[0].document.source == "awattar"


def test_a_failing_source_is_asked_ever_more_rarely_but_never_given_up(exchange, market):
    Feed.objects.filter(market=market).exclude(source="energy_charts").delete()
    exchange.has["energy_charts"] = PriceFeedError("down")
    now, times, client = at(8), [], httpx2.Client()
    while now < at(20):
        before = len(exchange.asked)
        market_fetch(market=market, client=client, now=now)
        times += [now] if len(exchange.asked) > before else []
        now += timedelta(minutes=2)
    waits = [(b - a) / timedelta(minutes=1) for a, b in zip(times, times[1:], strict=False)]
    assert waits[:3] == [10, 20, 30]
    assert set(waits[3:]) == {30}


def test_a_quarantined_answer_counts_as_a_failure_of_its_source(exchange, market):
    exchange.has["energy_charts"] = day(20, price=80)
    exchange.has["awattar"] = [p for n in range(1, 21) for p in day(n)]
    feeds_fetch_due(now=at(8))
    assert "outside of" in Feed.objects.get(market=market, source="energy_charts").last_error
    assert float(settled_points(market, at(0), at(1))[0].price_per_kwh) == 0.1


def test_prices_known_only_afterwards_are_asked_for_all_day(exchange, submitter):
    comed = Market.objects.get(slug="comed")
    SchedulingAccount.objects.create(user=submitter, market=comed)
    exchange.has["comed"] = PriceFeedError("down")
    for minute in range(0, 120, 10):
        feeds_fetch_due(now=at(8 + minute / 60))
    assert all(end <= at(10) for _, _, end in exchange.asked)
    assert len(exchange.asked) >= 4


def test_without_new_prices_the_forecast_is_made_again_on_a_new_day(exchange, market):
    exchange.has["energy_charts"] = [p for n in range(1, 21) for p in day(n)]
    feeds_fetch_due(now=at(8))
    last = PricePoint.objects.filter(market=market, is_forecast=True).order_by("-end")[0].end
    exchange.has["energy_charts"] = PriceFeedError("down for days")
    feeds_fetch_due(now=at(8, 22))
    assert PricePoint.objects.filter(market=market, is_forecast=True).order_by("-end")[0].end == last + timedelta(
        days=2
    )
