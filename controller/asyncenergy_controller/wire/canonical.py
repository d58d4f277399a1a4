"""One way to write a value down, so that equal values have equal hashes."""

import hashlib
import json
from array import array
from collections.abc import Mapping
from math import nan
from typing import Any

from asyncenergy_controller.wire.columns import WORD_COLUMNS

TABLES = ("items", "trace")


def canonical_json(value: Any) -> bytes:
    """Sorted keys, no spaces, UTF-8. Raises ValueError for NaN and infinity."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


def run_identity(run: Mapping[str, Any]) -> str:
    """The sha256 (64 hex) of a run without `created_at`: the same measurement is the same run, however often sent.

    Of the run's canonical JSON, in which each column of numbers stands by the sha256 of its doubles (null is NaN):
    no way of writing decimals matters then. A column may be a list or a buffer of doubles.
    """
    measured = {key: value for key, value in run.items() if key != "created_at"}
    tables = {table: _digested(measured[table]) for table in TABLES if measured.get(table)}
    return hashlib.sha256(canonical_json({**measured, **tables})).hexdigest()


def _digested(table: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: column if column is None or name in WORD_COLUMNS else hashlib.sha256(_doubles(column)).hexdigest()
        for name, column in table.items()
    }


def _doubles(column: Any) -> bytes:
    if isinstance(column, list):
        return array("d", [nan if value is None else value for value in column]).tobytes()
    return bytes(column)
