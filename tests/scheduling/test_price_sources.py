"""Each source of prices is read to the digit, and what is broken is refused with a sentence."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import httpx2
import pytest
import stamina

from scheduling.errors import NotYetPublished, PriceFeedError, PricesRefused
from scheduling.prices import SOURCES, awattar, comed, csv_file, energy_charts, entsoe, http, octopus
from scheduling.prices.coverage import gaps, is_complete, tidy
from scheduling.prices.types import SpotPoint
from scheduling.prices.units import currency_and_factor, per_kwh

ANSWERS = Path(__file__).parent / "answers"
BERLIN, PARIS, CHICAGO = ZoneInfo("Europe/Berlin"), ZoneInfo("Europe/Paris"), ZoneInfo("America/Chicago")
EIC = "10Y1001A1001A82H"


def answer(name: str) -> bytes:
    return (ANSWERS / name).read_bytes()


def price_at(points: Sequence[SpotPoint], instant: datetime) -> Decimal:
    return next(p.price_per_kwh for p in points if p.start <= instant < p.end)


@pytest.fixture(autouse=True)
def _no_pauses_between_attempts():
    with stamina.set_testing(True, attempts=3):
        yield


@pytest.mark.parametrize(
    ("unit", "value", "expected"),
    [
        ("EUR/MWh", "100", "0.1"),
        ("EUR / MWh", "-500", "-0.5"),
        ("Eur/MWh", "12.34", "0.01234"),
        ("ct/kWh", "31.9", "0.319"),
        ("p/kWh", "24.3705", "0.243705"),
        ("c/kWh", "2.5", "0.025"),
        ("USD/MWh", "25", "0.025"),
        ("CZK/MWh", "2500", "2.5"),
        ("EUR/kWh", "0.3", "0.3"),
    ],
)
def test_units_become_currency_per_kwh(unit, value, expected):
    _, factor = currency_and_factor(unit)
    assert per_kwh(value, factor) == Decimal(expected)


def test_an_unknown_unit_is_refused():
    with pytest.raises(PriceFeedError, match="furlongs"):
        currency_and_factor("furlongs")


def test_energy_charts_gives_an_hourly_day_and_a_day_of_quarters():
    fetched = energy_charts.parse(answer("energy_charts_de_lu.json"), "DE-LU")
    assert fetched.currency == "EUR"
    assert {p.end - p.start for p in fetched.points[:24]} == {timedelta(hours=1)}
    assert {p.end - p.start for p in fetched.points[24:]} == {timedelta(minutes=15)}
    assert price_at(fetched.points, datetime(2025, 10, 1, 11, 7, tzinfo=UTC)) == Decimal("-0.0049")
    assert is_complete(fetched.points, BERLIN, datetime(2025, 9, 30).date())
    assert is_complete(fetched.points, BERLIN, datetime(2025, 10, 1).date())


def test_a_null_price_of_energy_charts_is_a_hole_and_not_bridged():
    points = energy_charts.parse(answer("energy_charts_null.json"), "DE-LU").points
    missing = gaps(points, points[0].start, points[-1].end)
    assert missing == [(datetime(2025, 10, 1, 8, tzinfo=UTC), datetime(2025, 10, 1, 9, tzinfo=UTC))]


def test_awattar_carries_the_end_of_each_hour():
    fetched = awattar.parse(answer("awattar_de.json"), "de")
    assert len(fetched.points) == 24
    assert price_at(fetched.points, datetime(2026, 8, 20, 23, 30, tzinfo=UTC)) == Decimal("0.07487")
    assert is_complete(fetched.points, BERLIN, datetime(2026, 8, 21).date())


def test_octopus_is_read_over_its_pages_without_vat():
    pages = [answer("octopus_page1.json"), answer("octopus_page2.json")]
    fetched = octopus.parse(pages, "E-1R-AGILE-24-10-01-C")
    assert (fetched.currency, len(fetched.points)) == ("GBP", 48)
    assert price_at(fetched.points, datetime(2026, 1, 14, 23, tzinfo=UTC)) == Decimal("0.14")
    assert is_complete(fetched.points, PARIS, datetime(2026, 1, 15).date())


def test_comed_is_in_cents_and_its_stamp_is_the_end_of_five_minutes():
    fetched = comed.parse(answer("comed_five_minutes.json"))
    first = fetched.points[0]
    assert (first.start, first.end) == (
        datetime(2026, 3, 8, 6, tzinfo=UTC),
        datetime(2026, 3, 8, 6, 5, tzinfo=UTC),
    )
    assert first.price_per_kwh == Decimal("0.025")
    assert min(p.price_per_kwh for p in fetched.points) < 0
    assert is_complete(fetched.points, CHICAGO, datetime(2026, 3, 8).date()), "23 h on the day the clock changes"


def test_entsoe_repeats_what_curve_a03_leaves_out_inside_its_period_only():
    fetched = entsoe.parse(answer("entsoe_a03_25h.xml"), EIC)
    points = fetched.points
    assert len(points) == 25, "an hour more on the day the clock goes back"
    assert price_at(points, datetime(2025, 10, 26, 1, 30, tzinfo=UTC)) == Decimal("0.075"), "position 4 repeats 3"
    assert price_at(points, datetime(2025, 10, 26, 12, 0, tzinfo=UTC)) == Decimal("-0.003"), "position 15 repeats 14"
    assert price_at(points, datetime(2025, 10, 26, 22, 59, tzinfo=UTC)) == Decimal("0.095"), "to the period's end"
    assert is_complete(points, BERLIN, datetime(2025, 10, 26).date())
    assert "day-ahead-1" in fetched.document_id


def test_entsoe_leaves_a_hole_where_the_curve_does_not_repeat():
    points = entsoe.parse(answer("entsoe_mixed.xml"), EIC).points
    missing = gaps(points, points[0].start, points[-1].end)
    assert missing == [(datetime(2025, 9, 30, 4, tzinfo=UTC), datetime(2025, 9, 30, 5, tzinfo=UTC))]
    assert is_complete(points, BERLIN, datetime(2025, 10, 1).date()), "quarters after a day of hours"


def test_another_auction_of_the_same_day_is_not_mistaken_for_the_coupled_one():
    noon = datetime(2025, 7, 1, 10, tzinfo=UTC)
    coupled = entsoe.parse(answer("entsoe_two_auctions.xml"), EIC)
    other = entsoe.parse(answer("entsoe_two_auctions.xml"), EIC, "2")
    assert price_at(coupled.points, noon) == Decimal("0.073")
    assert price_at(other.points, noon) == Decimal("0.249")
    assert coupled.document_id != other.document_id


def test_no_prices_yet_is_told_from_a_failure():
    for parse in (
        lambda: entsoe.parse(answer("entsoe_no_data.xml"), EIC),
        lambda: energy_charts.parse(answer("energy_charts_empty.json"), "DE-LU"),
        lambda: awattar.parse(b'{"object": "list", "data": []}', "de"),
        lambda: octopus.parse([b'{"count": 0, "next": null, "results": []}'], "t"),
        lambda: comed.parse(b"[]"),
        lambda: entsoe.parse(answer("entsoe_two_auctions.xml"), EIC, "3"),
    ):
        with pytest.raises(NotYetPublished):
            parse()


@pytest.mark.parametrize(
    "parse",
    [
        lambda: energy_charts.parse(answer("energy_charts_broken.json"), "DE-LU"),
        lambda: energy_charts.parse(b'{"unix_seconds": [1], "price": [1], "unit": 7}', "DE-LU"),
        lambda: awattar.parse(answer("awattar_broken.json"), "de"),
        lambda: octopus.parse([answer("octopus_broken.json")], "t"),
        lambda: comed.parse(answer("comed_broken.json")),
        lambda: comed.parse(b'{"error": "maintenance"}'),
        lambda: entsoe.parse(answer("entsoe_broken.xml"), EIC),
        lambda: entsoe.parse(answer("entsoe_trap.xml"), EIC),
        lambda: entsoe.parse(b"<html>Bad gateway</html>", EIC),
        lambda: entsoe.parse(b"not xml", EIC),
    ],
)
def test_a_broken_answer_is_a_sentence_and_no_price(parse):
    with pytest.raises(PriceFeedError) as caught:
        parse()
    assert type(caught.value) is PriceFeedError
    assert len(caught.value.detail) > 20


class Server:
    """What a source answers, one answer after another; the last one stays."""

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(found, Exception):
            raise found
        return found if isinstance(found, httpx2.Response) else httpx2.Response(200, content=found)

    def client(self) -> httpx2.Client:
        return httpx2.Client(transport=httpx2.MockTransport(self))


DAY = {"start": datetime(2025, 9, 29, 22, tzinfo=UTC), "end": datetime(2025, 10, 1, 22, tzinfo=UTC)}


def test_a_source_that_stumbles_is_asked_again():
    server = Server(httpx2.Response(503), httpx2.ConnectTimeout("slow"), answer("energy_charts_de_lu.json"))
    fetched = SOURCES["energy_charts"].fetch(server.client(), {"bzn": "DE-LU"}, **DAY)
    assert (len(server.requests), len(fetched.points)) == (3, 120)


def test_a_source_that_stays_down_is_a_passing_failure():
    server = Server(httpx2.Response(502))
    with pytest.raises(PriceFeedError) as caught:
        SOURCES["energy_charts"].fetch(server.client(), {"bzn": "DE-LU"}, **DAY)
    assert (caught.value.permanent, len(server.requests)) == (False, 3)


def test_a_refusal_is_permanent_and_not_repeated():
    server = Server(httpx2.Response(404))
    with pytest.raises(PriceFeedError) as caught:
        SOURCES["awattar"].fetch(server.client(), {"country": "de"}, **DAY)
    assert (caught.value.permanent, len(server.requests)) == (True, 1)


def test_every_call_has_a_time_limit():
    with http.client() as client:
        limits = client.timeout
    assert all(limit is not None and limit <= 30 for limit in (limits.connect, limits.read, limits.write, limits.pool))


def test_octopus_follows_its_pages():
    server = Server(answer("octopus_page1.json"), answer("octopus_page2.json"))
    options = {"product": "AGILE-24-10-01", "tariff": "E-1R-AGILE-24-10-01-C"}
    fetched = SOURCES["octopus"].fetch(server.client(), options, **DAY)
    assert (len(fetched.points), [r.url.params["page"] for r in server.requests]) == (48, ["1", "2"])


def test_comed_is_asked_in_chicago_time():
    server = Server(answer("comed_five_minutes.json"))
    SOURCES["comed"].fetch(server.client(), {}, **DAY)
    assert server.requests[0].url.params["datestart"] == "202509291700"


def test_entsoe_is_asked_with_the_key_and_passed_over_without(settings):
    settings.ENTSOE_TOKEN = "secret"
    server = Server(answer("entsoe_mixed.xml"))
    SOURCES["entsoe"].fetch(server.client(), {"eic": EIC}, **DAY)
    assert server.requests[0].url.params["periodStart"] == "202509292200"
    assert server.requests[0].url.params["securityToken"] == "secret"
    settings.ENTSOE_TOKEN = ""
    with pytest.raises(PriceFeedError, match="ENTSOE_TOKEN"):
        SOURCES["entsoe"].fetch(server.client(), {"eic": EIC}, **DAY)


@pytest.mark.parametrize("source", ["energy_charts", "entsoe", "awattar", "octopus"])
def test_a_feed_without_its_option_says_which(source, settings):
    settings.ENTSOE_TOKEN = "secret"
    with pytest.raises(PriceFeedError, match="option"):
        SOURCES[source].fetch(Server(b"{}").client(), {}, **DAY)


def test_a_file_is_read_in_either_unit():
    per_mwh = "start,end,price_per_mwh\n2026-08-20T00:00+02:00,2026-08-20T01:00+02:00,97.21\n"
    point = csv_file.parse(per_mwh.encode(), "EUR").points[0]
    assert (point.start, point.price_per_kwh) == (datetime(2026, 8, 19, 22, tzinfo=UTC), Decimal("0.09721"))
    per_kwh_rows = "\ufeffstart,end,price_per_kwh\n2026-08-20T00:00Z,2026-08-20T00:15Z,-0.01\n"
    assert csv_file.parse(per_kwh_rows.encode(), "EUR").points[0].price_per_kwh == Decimal("-0.01")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "head"),
        ("start,end,price\n1,2,3\n", "head"),
        ("start,end,price_per_kwh\n2026-08-20T00:00,2026-08-20T01:00,0.1\n", "Line 2 has a time without"),
        ("start,end,price_per_kwh\n2026-08-20T00:00Z,2026-08-20T01:00Z,SN\n", "Line 2"),
        ("start,end,price_per_kwh\n2026-08-20T00:00Z,2026-08-20T01:00Z,NaN\n", "Line 2"),
        ("start,end,price_per_kwh\nyesterday,2026-08-20T01:00Z,1\n", "Line 2"),
    ],
)
def test_a_file_that_is_wrong_names_the_line(text, word):
    with pytest.raises(PricesRefused, match=word):
        tidy(csv_file.parse(text.encode(), "EUR").points)
