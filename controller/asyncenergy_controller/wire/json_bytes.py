"""Reads JSON strictly: what other parsers let through, we refuse with a sentence."""

import json
import math
import re
from typing import Any, NoReturn

from asyncenergy_controller.wire.errors import WireError

MAX_NESTING = 12

_ONLY_BRACKETS_AND_QUOTES = bytes(set(range(256)) - set(b'[]{}"'))
_BRACES_AS_BRACKETS = bytes.maketrans(b"{}", b"[]")
_DIGITS_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_MAYBE_HUGE = (b"0" * 200, b"e000", b"E000", b"e+000", b"E+000")  # looked for at C speed, three times a regex
_MAYBE_LONE_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def check_json_bytes(raw: bytes) -> Any:
    """Return the parsed body.

    Raises WireError with code ``too_deep`` (over 12 levels, counted before parsing), ``not_finite``
    (NaN, Infinity, numbers no float can hold), ``nul`` or ``unreadable``.
    """
    unescaped = raw.replace(rb"\\", b"")
    _refuse_nul(unescaped)
    _refuse_depth(unescaped.replace(rb"\"", b""))
    try:
        text = raw.decode("utf-8")
        shape = raw.translate(_DIGITS_AS_ZEROS)
        if any(mark in shape for mark in _MAYBE_HUGE):
            json.loads(text, parse_float=_finite, parse_int=_finite)
        body = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refuse_constant)
        if _MAYBE_LONE_SURROGATE.search(raw):
            json.dumps(body, ensure_ascii=False).encode()
    except WireError:
        raise
    except (ValueError, RecursionError) as error:  # UnicodeError is a ValueError
        raise WireError("unreadable", f"The body is no JSON in UTF-8: {error}.") from error
    return body


def _refuse_nul(unescaped: bytes) -> None:
    if b"\\u0000" in unescaped or b"\x00" in unescaped:
        raise WireError("nul", "The body holds a NUL character; take it out.")


def _refuse_depth(unquoted: bytes) -> None:
    """Each round takes away the innermost pairs, so what is left after 12 rounds lies deeper."""
    skeleton = unquoted.translate(None, _ONLY_BRACKETS_AND_QUOTES)
    brackets = b"".join(skeleton.split(b'"')[::2]).translate(_BRACES_AS_BRACKETS)
    for _ in range(MAX_NESTING):
        brackets = brackets.replace(b"[]", b"")
    if brackets:
        raise WireError(
            "too_deep", f"The body is nested deeper than {MAX_NESTING} levels, or its brackets don't close."
        )


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    body = dict(pairs)
    if len(body) != len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise WireError("unreadable", f"The key {repeated[:80]!r} stands twice in one object; keep one of them.")
    return body


def _refuse_constant(name: str) -> NoReturn:
    raise WireError("not_finite", f"The body holds {name}, which is no JSON number; send null for what is unknown.")


def _finite(text: str) -> float:
    try:
        value = float(text)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise WireError("not_finite", f"The number {text[:40]} is too large; send null for what is unknown.")
    return value
