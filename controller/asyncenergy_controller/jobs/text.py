"""The text of jobs.json: JSON with `//` and `/* */` comments, and commas before a closing bracket."""

import json
import re
from typing import Any

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
    return json.loads(plain_json(text), object_pairs_hook=_each_once, parse_constant=_no_constant)


def _unless_string(match: re.Match[str]) -> str:
    found = match[0]
    return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1 and not name.startswith("_")), None)
    if twice is not None:
        raise ValueError(f"{twice!r} stands there twice")
    return dict(pairs)


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no number that JSON has")
