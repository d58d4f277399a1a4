"""Reads JSON strictly: what other parsers let through, we refuse with a sentence.

A sound body is parsed once by a fast parser. Whatever could be wrong with it goes through a slow one that knows why.
"""

import json
import math
import re
from typing import Any, NoReturn

from pydantic_core import from_json

from asyncenergy_controller.wire.errors import WireError

MAX_NESTING = 12

_NO_STRUCTURE = bytes(set(range(256)) - set(b"[]{}:"))
_BRACES_AS_BRACKETS = bytes.maketrans(b"{}", b"[]")
_DIGITS_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_MAYBE_HUGE = (b"0" * 200, b"e000", b"E000", b"e+000", b"E+000")  # looked for at C speed, three times a regex
_MAYBE_LONE_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def check_json_bytes(raw: bytes) -> Any:
    """Return the parsed body.

    Raises WireError with code ``too_deep`` (over 12 levels, counted before parsing), ``not_finite``
    (NaN, Infinity, numbers no float can hold), ``nul`` or ``unreadable``.
    """
    unescaped = raw.replace(rb"\\", b"") if b"\\" in raw else raw
    _refuse_nul(unescaped)
    outside = _outside_strings(unescaped)
    skeleton = outside.translate(_BRACES_AS_BRACKETS, _NO_STRUCTURE)
    _refuse_depth(skeleton)
    huge = _may_hold_huge(outside)
    if not huge:
        try:
            body = from_json(raw, allow_inf_nan=False)
        except ValueError:
            return _read_slowly(raw, huge)
        if _pairs(body) == skeleton.count(b":"):
            return body
    return _read_slowly(raw, huge)


def _read_slowly(raw: bytes, huge: bool) -> Any:
    try:
        text = raw.decode("utf-8")
        if huge:
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
    if b"\x00" in unescaped or (b"\\" in unescaped and b"\\u0000" in unescaped):
        raise WireError("nul", "The body holds a NUL character; take it out.")


def _outside_strings(unescaped: bytes) -> bytes:
    unquoted = unescaped.replace(rb"\"", b"") if b"\\" in unescaped else unescaped
    return b"".join(unquoted.split(b'"')[::2])


def _refuse_depth(skeleton: bytes) -> None:
    """Each round takes away the innermost pairs, so what is left after 12 rounds lies deeper."""
    brackets = skeleton.replace(b":", b"")
    for _ in range(MAX_NESTING):
        brackets = brackets.replace(b"[]", b"")
    if brackets:
        raise WireError(
            "too_deep", f"The body is nested deeper than {MAX_NESTING} levels, or its brackets don't close."
        )


def _may_hold_huge(outside: bytes) -> bool:
    """Whether some number, outside of the strings, could be too large for a float."""
    shape = outside.translate(_DIGITS_AS_ZEROS)
    marks = _MAYBE_HUGE if b"e" in shape or b"E" in shape else _MAYBE_HUGE[:1]
    return any(mark in shape for mark in marks)


def _pairs(body: Any) -> int:
    """Pairs of key and value that were kept; a list that starts with a plain value is not looked into.

    As many as the colons of the text: then no key stood twice in one object.
    """
    if isinstance(body, dict):
        return len(body) + sum(map(_pairs, body.values()))
    if isinstance(body, list) and body and isinstance(body[0], dict | list):
        return sum(map(_pairs, body))
    return 0


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
