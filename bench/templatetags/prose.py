"""Template filters for sentences that also stand in code."""

import re

from django import template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString

register = template.Library()
_BROKEN = re.compile(r"\n(?: {4})?(?=[a-z(])")
_NAME = re.compile("`+([^`]+)`+")


@register.filter
def names(sentence: str) -> SafeString:
    """Set what stands between backticks as code."""
    return SafeString(_NAME.sub(r"<code>\1</code>", conditional_escape(sentence)))


@register.filter
def unwrapped(text: str) -> str:
    """Join the lines that a text for terminals breaks within a sentence: a page breaks them to its own width."""
    return _BROKEN.sub(" ", text)
