"""Money as people say it: cents for a night, whole currency for months. Pure."""

from decimal import Decimal

from bench.presentation import fixed, with_sign

MINOR = {"EUR": "ct", "GBP": "p", "USD": "¢"}
PER_MAJOR = 100
Amount = Decimal | float


def minor_unit(currency: str) -> str:
    """The hundredth of a currency, or the currency itself where its hundredth has no use."""
    return MINOR.get(currency, currency)


def minor(amount: Amount, currency: str) -> float:
    """An amount of `currency` in the unit that `minor_unit` names."""
    return float(amount) * (PER_MAJOR if currency in MINOR else 1)


def small(amount: Amount, currency: str) -> str:
    """A small amount to a tenth of its unit: ``54.0``."""
    return fixed(minor(amount, currency))


def small_signed(amount: Amount, currency: str) -> str:
    return with_sign(minor(amount, currency))


def large_signed(amount: Amount) -> str:
    return with_sign(float(amount), 2)
