"""The text of jobs.json: JSON with `//` and `/* */` comments, and commas before a closing bracket."""

import json
import math
import re
from typing import Any, NoReturn

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)


def without_comments(text: str) -> str:
    """Blank out comments; everything else stays at its line and column."""
    return _TOKEN.sub(_unless_string, text)


def plain_json(text: str) -> str:
    """Blank out comments and last commas; everything else stays at its line and column."""
    return _LAST_COMMA.sub(_unless_string, without_comments(text))


def decode(text: str) -> Any:
    """Return the value. Raises ValueError, with the place, for what is no JSON or names something twice."""
    value = json.loads(plain_json(text), object_pairs_hook=_each_once, parse_constant=_no_constant, parse_float=_finite)
    json.dumps(value, ensure_ascii=False).encode()  # half a pair of surrogates can't be handed on to anybody
    return value


def _unless_string(match: re.Match[str]) -> str:
    found = match[0]
    return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1 and not name.startswith("_")), None)
    if twice is not None:
        raise ValueError(f"{twice!r} stands there twice")
    return dict(pairs)


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number that can be used")


def _finite(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        _no_constant(word)
    return number
