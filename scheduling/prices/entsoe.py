"""ENTSO-E Transparency Platform: day-ahead prices of all European zones; needs a key in ENTSOE_TOKEN.

Options: ``{"eic": "10YCZ-CEPS-----N"}``, and ``"sequence"`` where a zone has several auctions on one day (1, the
coupled day-ahead auction, unless said otherwise). With curve type A03 a price that repeats the one before is left
out; it is filled in again, but only inside its own Period.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from xml.etree.ElementTree import Element, ParseError

import httpx2
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring
from django.conf import settings

from scheduling.errors import NotYetPublished, PriceFeedError
from scheduling.prices import http
from scheduling.prices.answers import option
from scheduling.prices.types import Fetched, Options, SpotPoint
from scheduling.prices.units import currency_and_factor, per_kwh

URL = "https://web-api.tp.entsoe.eu/api"
NAME = "ENTSO-E"
STEPS = {"PT5M": 5, "PT15M": 15, "PT30M": 30, "PT60M": 60, "PT1H": 60}
NO_DATA = "999"
REPEATS = "A03"


class Entsoe:
    def fetch(self, client: httpx2.Client, options: Options, *, start: datetime, end: datetime) -> Fetched:
        if not settings.ENTSOE_TOKEN:
            raise PriceFeedError(
                f"{NAME} needs a key: set ENTSOE_TOKEN, or give the market another source.", permanent=True
            )
        eic = option(options, "eic", NAME)
        asked = {
            "securityToken": settings.ENTSOE_TOKEN,
            "documentType": "A44",
            "in_Domain": eic,
            "out_Domain": eic,
            "periodStart": f"{start.astimezone(UTC):%Y%m%d%H%M}",
            "periodEnd": f"{end.astimezone(UTC):%Y%m%d%H%M}",
        }
        return parse(http.get(client, URL, asked), eic, str(options.get("sequence", 1)))


def parse(raw: bytes, eic: str, sequence: str = "1") -> Fetched:
    root = _root(raw)
    if _name(root) == "Acknowledgement_MarketDocument":
        raise _refusal(root)
    if _name(root) != "Publication_MarketDocument":
        raise PriceFeedError(f"{NAME} answers with a {_name(root)}; its format may have changed.")
    series = [s for s in _all(root, "TimeSeries") if _sequence(s) in (None, sequence)]
    if not series:
        raise NotYetPublished(f"{NAME} has no prices of {eic}, auction {sequence}, for this time yet.")
    currency, factor = currency_and_factor(
        f"{_text(series[0], 'currency_Unit.name')}/{_text(series[0], 'price_Measure_Unit.name')}"
    )
    points = sorted({point for one in series for point in _points(one, factor)})
    document = f"{_text(root, 'mRID')}/{_text(root, 'revisionNumber')}"
    return Fetched(f"entsoe/{eic}/day-ahead-{sequence}/{document}", currency, tuple(points))


def _root(raw: bytes) -> Element:
    try:
        root: Element = fromstring(raw)
    except (ParseError, DefusedXmlException, ValueError):
        raise PriceFeedError(f"{NAME} answers with something that is no XML: {raw[:60]!r}.") from None
    return root


def _refusal(root: Element) -> PriceFeedError:
    reason = next(_all(root, "Reason"), root)
    if _text(reason, "code") == NO_DATA:
        return NotYetPublished(f"{NAME} has no prices for this time yet.")
    return PriceFeedError(f"{NAME} refuses: {_text(reason, 'text')}", permanent=True)


def _points(series: Element, factor: Decimal) -> Iterator[SpotPoint]:
    repeats = _text(series, "curveType") == REPEATS
    for period in _all(series, "Period"):
        yield from _period_points(period, factor, repeats=repeats)


def _period_points(period: Element, factor: Decimal, *, repeats: bool) -> Iterator[SpotPoint]:
    """A left-out position repeats the one before where the curve says so, and is a hole elsewhere."""
    start, end = (_instant(_text(period, f"timeInterval/{which}")) for which in ("start", "end"))
    step = timedelta(minutes=_step_min(_text(period, "resolution")))
    prices = {_position(p): per_kwh(_text(p, "price.amount"), factor) for p in _all(period, "Point")}
    count = int((end - start) / step)
    if not prices or count < 1 or min(prices) < 1 or max(prices) > count or (repeats and 1 not in prices):
        raise PriceFeedError(f"{NAME} gives positions {sorted(prices)[:3]}… in a period of {count} from {start}.")
    price: Decimal | None = None
    for position in range(1, count + 1):
        price = prices.get(position, price if repeats else None)
        if price is not None:
            yield SpotPoint(start + (position - 1) * step, start + position * step, price)


def _step_min(resolution: str) -> int:
    if resolution not in STEPS:
        raise PriceFeedError(f"{NAME} gives prices per {resolution!r:.20}; known are {', '.join(STEPS)}.")
    return STEPS[resolution]


def _position(point: Element) -> int:
    text = _text(point, "position")
    if not text.isdigit():
        raise PriceFeedError(f"{NAME} gives {text!r:.20} where a position should be.")
    return int(text)


def _instant(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        raise PriceFeedError(f"{NAME} gives {text!r:.40} where a time should be.") from None


def _sequence(series: Element) -> str | None:
    found = _find(series, "classificationSequence_AttributeInstanceComponent.position")
    return None if found is None else (found.text or "").strip()


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _all(element: Element, name: str) -> Iterator[Element]:
    """The direct children of a name; the namespace differs between versions of the format and says nothing."""
    return (child for child in element if _name(child) == name)


def _find(element: Element, path: str) -> Element | None:
    here: Element | None = element
    for name in path.split("/"):
        here = next(_all(here, name), None) if here is not None else None
    return here


def _text(element: Element, path: str) -> str:
    found = _find(element, path)
    if found is None or not (found.text or "").strip():
        raise PriceFeedError(f"{NAME} answers without {path}; its format may have changed.")
    return (found.text or "").strip()
