"""One way to write a JSON value down, so that equal values have equal hashes."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def canonical_json(value: Any) -> bytes:
    """Sorted keys, no spaces, UTF-8. Raises ValueError for NaN and infinity."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


def run_identity(run: Mapping[str, Any]) -> str:
    """The sha256 (64 hex) of a run without `created_at`: the same measurement is the same run, however often sent."""
    measured = {key: value for key, value in run.items() if key != "created_at"}
    return hashlib.sha256(canonical_json(measured)).hexdigest()
