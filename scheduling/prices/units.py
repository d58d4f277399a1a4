"""Every price is converted once, where it comes in: to the currency's main unit per kWh."""

from decimal import Decimal, InvalidOperation

from scheduling.errors import PriceFeedError

# what one of the unit is in currency per kWh
UNITS = {
    "EUR/MWh": ("EUR", Decimal("0.001")),
    "EUR/kWh": ("EUR", Decimal(1)),
    "ct/kWh": ("EUR", Decimal("0.01")),
    "GBP/MWh": ("GBP", Decimal("0.001")),
    "GBP/kWh": ("GBP", Decimal(1)),
    "p/kWh": ("GBP", Decimal("0.01")),
    "USD/MWh": ("USD", Decimal("0.001")),
    "USD/kWh": ("USD", Decimal(1)),
    "c/kWh": ("USD", Decimal("0.01")),
}
PLACES = Decimal("0.000000001")


def currency_and_factor(unit: str) -> tuple[str, Decimal]:
    """Return the currency of a unit, and what one of it is per kWh; currencies not listed are taken as they stand."""
    tidy = unit.replace(" ", "")
    for name, known in UNITS.items():
        if name.lower() == tidy.lower():
            return known
    currency, _, energy = tidy.upper().partition("/")
    if len(currency) == 3 and currency.isalpha() and energy in ("MWH", "KWH"):
        return currency, Decimal("0.001") if energy == "MWH" else Decimal(1)
    raise PriceFeedError(f"{unit!r} is no unit of price that is known here, such as EUR/MWh or p/kWh.", permanent=True)


def per_kwh(value: object, factor: Decimal) -> Decimal:
    """Return a number as published, in currency per kWh; what is no finite number is refused."""
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise PriceFeedError(f"{value!r:.40} stands where a price should be.")
    return (number * factor).quantize(PLACES)
