"""Template filters for money, energy and time: the figure, a narrow space, and its unit in a quieter colour."""

from datetime import timedelta

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from bench.presentation import NARROW_SPACE, fixed, significant, with_sign
from scheduling.pages import money, words

register = template.Library()
NOT_KNOWN = SafeString('<span class="quiet">not known</span>')


def _united(text: str, unit: str) -> SafeString:
    return format_html('{}{}<span class="u">{}</span>', text, NARROW_SPACE, unit)


@register.filter
def small(amount: money.Amount | None, currency: str) -> SafeString:
    """Cents: ``54.0 ct``."""
    if amount is None or isinstance(amount, str):
        return NOT_KNOWN
    return _united(money.small(amount, currency), money.minor_unit(currency))


@register.filter
def saved(amount: money.Amount | None, currency: str) -> SafeString:
    """Cents that were saved, with their sign; a loss says so."""
    if amount is None or isinstance(amount, str):
        return NOT_KNOWN
    text = _united(money.small_signed(amount, currency), money.minor_unit(currency))
    return _loss(text, amount)


@register.filter
def saved_large(amount: money.Amount | None) -> SafeString:
    """Whole currency that was saved, with its sign; a loss says so."""
    if amount is None or isinstance(amount, str):
        return NOT_KNOWN
    return _loss(SafeString(money.large_signed(amount)), amount)


def _loss(text: SafeString, amount: money.Amount) -> SafeString:
    return format_html('{}<span class="sub">a loss</span>', text) if amount < 0 else text


@register.filter
def large(amount: money.Amount | None) -> SafeString:
    """Whole currency, two decimals: ``9.83``."""
    return NOT_KNOWN if amount is None or isinstance(amount, str) else SafeString(fixed(float(amount), 2))


@register.filter
def rate(amount: money.Amount | None, currency: str) -> SafeString:
    """A price of energy: ``32.4 ct/kWh``."""
    if amount is None or isinstance(amount, str):
        return NOT_KNOWN
    return _united(money.small(amount, currency), f"{money.minor_unit(currency)}/kWh")


@register.filter
def rate_cell(amount: money.Amount, currency: str) -> str:
    """The same without its unit, for a column that names it."""
    return money.small(amount, currency)


@register.filter
def minor_unit(currency: str) -> str:
    return money.minor_unit(currency)


@register.filter
def lasts(seconds: float | None) -> str:
    """A length of time to the minute."""
    return NOT_KNOWN if seconds is None or isinstance(seconds, str) else words.lasts(seconds)


@register.filter
def change(sentence: str) -> str:
    """The smallest change that helps, with its minutes as a length of time."""
    return words.change_in_words(sentence)


@register.filter
def ago(passed: timedelta) -> str:
    """How long ago, roughly."""
    return words.ago(passed)


@register.filter
def outcome(exit_status: str | None) -> str:
    """What became of a run."""
    return words.outcome(exit_status)[0]


@register.filter
def signed_share(share: float) -> SafeString:
    """A difference in percent, with its sign."""
    return _united(with_sign(100 * share), "%")


@register.filter
def wh(value: float | None) -> SafeString:
    """Energy in Wh up to 10 kWh, then in kWh; "not measured" where there is none."""
    if value is None or isinstance(value, str):
        return SafeString('<span class="quiet">not measured</span>')
    if abs(value) < 10_000:
        return _united(fixed(value, 0) if abs(value) >= 100 else significant(value), "Wh")
    return _united(significant(value / 1000), "kWh")
