"""A damaged spool: kept under another name, and what can still be read of it goes on in a new one."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from asyncenergy_controller import clock
from asyncenergy_controller.files import lock
from asyncenergy_controller.reporting.outbox import Outbox, Report

DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
PARTS = ("", "-wal", "-shm")


def set_aside_damaged(outbox: Outbox) -> str:
    """Return what was done, in words. Raises OSError where another process is at it, sqlite3.Error."""
    path = outbox.path
    alone = lock(path.with_suffix(".repair"))
    if alone is None:
        raise OSError(f"another process repairs {path}")
    with alone:
        if not _is_damaged(path):
            return f"{path} was damaged and has been repaired by another process"
        kept = path.with_name(f"{path.name}.damaged-{clock.now():%Y%m%dT%H%M%S%f}")
        for part in PARTS:
            if path.with_name(path.name + part).exists():
                path.with_name(path.name + part).rename(kept.with_name(kept.name + part))
        reports = _readable(kept)
        outbox.put(reports)
    return f"{path} was damaged: it is kept as {kept}, and {len(reports)} reports in it could still be read"


def _is_damaged(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(path)) as db:
            return bool(db.execute("PRAGMA quick_check").fetchall() != [("ok",)])
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorcode in DAMAGED


def _readable(path: Path) -> list[Report]:
    """What can be read from the first row on, and from the last one back."""
    with closing(sqlite3.connect(path)) as db:
        samples: dict[int, dict[str, Any]] = defaultdict(dict)
        for entry_id, ts, body in _rows(db, "SELECT entry_id, ts, body FROM sample", "entry_id {0}, ts {0}"):
            samples[entry_id][ts] = json.loads(body)
        entries = {row[0]: row[1:] for row in _rows(db, "SELECT id, kind, key, body FROM entry", "id {0}")}
    return [
        Report(kind, key, json.loads(body), list(samples[entry_id].values()))
        for entry_id, (kind, key, body) in sorted(entries.items())
    ]


def _rows(db: sqlite3.Connection, query: str, order: str) -> Iterator[Any]:
    for direction in ("ASC", "DESC"):
        with suppress(sqlite3.DatabaseError):
            yield from db.execute(f"{query} ORDER BY {order.format(direction)}")
