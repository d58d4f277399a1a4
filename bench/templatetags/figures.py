"""Template filters for figures: the number, a narrow space, and its unit in a quieter colour.

A missing figure is never blank and never 0: it reads "not measured".
"""

from collections.abc import Callable

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from bench.presentation import EN_DASH, NARROW_SPACE, between, duration, fixed, percent, significant, with_sign

register = template.Library()
NOT_MEASURED = SafeString('<span class="quiet">not measured</span>')


def _with_unit(write: Callable[[float], str], value: float | str | None, unit: str) -> SafeString:
    if value is None or isinstance(value, str):  # templates turn an absent name into an empty text
        return NOT_MEASURED
    if not unit:
        return SafeString(write(value))
    return format_html('{}{}<span class="u">{}</span>', write(value), NARROW_SPACE, unit)


@register.filter
def three(value: float | None, unit: str = "") -> SafeString:
    """Three significant digits, for lists."""
    return _with_unit(significant, value, unit)


@register.filter
def one(value: float | None, unit: str = "") -> SafeString:
    """One decimal, for run pages."""
    return _with_unit(fixed, value, unit)


@register.filter
def signed(value: float | None, unit: str = "") -> SafeString:
    """One decimal with its sign, for differences."""
    return _with_unit(with_sign, value, unit)


@register.filter
def share(value: float | None) -> SafeString:
    """A share of 0..1 in percent."""
    return _with_unit(percent, value, "%")


@register.filter
def three_to(low: float, high: float) -> str:
    """A range, three significant digits each."""
    return between(significant(low), significant(high))


@register.filter
def share_to(low: float, high: float) -> str:
    """A range of shares in percent, without the sign."""
    return between(percent(low), percent(high))


@register.filter
def lasting(seconds: float | None) -> str:
    """A time in seconds, minutes or hours."""
    return duration(seconds) if isinstance(seconds, float | int) else NOT_MEASURED


@register.filter
def whole(value: float | None, unit: str = "") -> SafeString:
    """A whole number with commas."""
    return _with_unit(lambda number: fixed(number, 0), value, unit)


@register.filter
def cell(value: float | None) -> str:
    """One decimal in a long table; a dash where the sample is missing."""
    return EN_DASH if value is None else fixed(value)


@register.filter
def count_cell(value: float | None) -> str:
    """A whole number in a long table; a dash where it is missing."""
    return EN_DASH if value is None else fixed(value, 0)
