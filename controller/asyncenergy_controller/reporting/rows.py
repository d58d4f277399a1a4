"""What the rows of the outbox hold, read back: damaged bytes are never taken for what was written. Pure."""

import json
import sqlite3
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["run", "ack"]

ENTRIES = "SELECT id, kind, key, body, server_id, failures FROM entry"


class RowUnreadable(sqlite3.DatabaseError):
    """A row isn't as it was written: the file is damaged, even where SQLite didn't notice."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


@dataclass(frozen=True, slots=True)
class Entry:
    """One report that waits."""

    id: int
    kind: Kind
    key: str
    body: dict[str, Any]
    server_id: str | None
    failures: int


def text_of(raw: bytes) -> str:
    """Text as SQLite hands it over; bytes that are none make a text that no row may hold."""
    return raw.decode(errors="surrogateescape")


def entry_of(row: tuple[Any, ...]) -> Entry:
    """Read a row of ENTRIES. Raises RowUnreadable."""
    entry_id, kind, key, body, server_id, failures = row
    if kind not in ("run", "ack") or not isinstance(failures, int) or not _is_text(key):
        raise RowUnreadable(f"entry {entry_id} is neither a run nor an ack")
    if server_id is not None and not _is_text(server_id):
        raise RowUnreadable(f"entry {entry_id} has an id of the server that is no text")
    read = _object(body)
    if kind == "run" and not isinstance(read.get("run_id"), str):
        raise RowUnreadable(f"entry {entry_id} is a run without a run_id")
    return Entry(entry_id, kind, key, read, server_id, failures)


def sample_of(ts: object, body: object) -> dict[str, Any]:
    """Read one sample. Raises RowUnreadable."""
    sample = _object(body)
    if not _is_text(ts) or sample.get("ts") != ts:
        raise RowUnreadable("a sample is not of the time that it is kept under")
    return sample


def _object(body: Any) -> dict[str, Any]:
    """What can be sent as JSON, so without NaN and without half characters."""
    try:
        read = json.loads(body)
        json.dumps(read, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise RowUnreadable(f"a row holds no JSON ({error})") from error
    if not isinstance(read, dict):
        raise RowUnreadable("a row holds no JSON object")
    return read


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.encode(errors="replace").decode() == value
