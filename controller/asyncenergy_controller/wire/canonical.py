"""One way to write a JSON value down, so that equal values have equal hashes."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

# Where one of these stands in a list that was written the fast way, the slow way may write it differently:
# strings, objects, exponents, true and false, NaN and infinity, and numbers below 0.0001.
_DOUBTFUL = (b'"', b"{", b"e", b"N", b"I", b"0.0000")


class Canonical(bytes):
    """A value that is written down already: it stands for itself in whatever holds it."""


def canonical_json(value: Any) -> bytes:
    """Sorted keys, no spaces, UTF-8; floats as Python's repr. Raises ValueError for NaN and infinity."""
    if isinstance(value, Canonical):
        return value
    if isinstance(value, Mapping):
        pairs = (_text(str(key)) + b":" + canonical_json(inner) for key, inner in sorted(value.items()))
        return b"{" + b",".join(pairs) + b"}"
    if isinstance(value, list | tuple) and (fast := _plain_list(value)) is not None:
        return fast
    return _text(value)


def canonical_columns(table: Mapping[str, Any]) -> dict[str, Any]:
    """The table with its long columns written down, for whoever needs them so more than once."""
    return {name: Canonical(canonical_json(c)) if isinstance(c, list) else c for name, c in table.items()}


def run_identity(run: Mapping[str, Any]) -> str:
    """The sha256 (64 hex) of a run without `created_at`: the same measurement is the same run, however often sent."""
    measured = {key: value for key, value in run.items() if key != "created_at"}
    return hashlib.sha256(canonical_json(measured)).hexdigest()


def _plain_list(values: Any) -> bytes | None:
    """A list of plain numbers and nulls, five times as fast as `json` writes it; None where that is in doubt."""
    written = to_json(values)
    return None if any(mark in written for mark in _DOUBTFUL) else written


def _text(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")
