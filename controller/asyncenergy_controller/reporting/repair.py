"""A damaged spool: kept under another name, and what can still be read of it goes on in a new one."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from asyncenergy_controller import clock
from asyncenergy_controller.files import lock
from asyncenergy_controller.reporting.outbox import Outbox, Report
from asyncenergy_controller.reporting.rows import ENTRIES, Entry, RowUnreadable, entry_of, sample_of, text_of

DAMAGED = (
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,  # a table or column is gone
    sqlite3.SQLITE_CONSTRAINT,  # a key leads to a row that is gone
)
PRIMARY_CODE = 0xFF
"""The bits of SQLite's codes that all kinds of one error share."""
SAMPLES = "SELECT entry_id, ts, body FROM sample"
IDS = (
    ("SELECT id FROM entry", ("key",)),
    ("SELECT entry_id FROM sample", ("entry_id", "ts")),
    ("SELECT seq FROM sqlite_sequence", ("seq",)),
)
"""Where the ids of entries stand, each in its own part of the file."""
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


def is_damage(error: sqlite3.Error) -> bool:
    """Whether it says that the file itself is wrong, not that it can't be used just now."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & PRIMARY_CODE in DAMAGED


def _is_damaged(path: Path) -> bool:
    """Thorough: a key that leads nowhere, or a row that is no report, damages a file as well."""
    try:
        with closing(_opened(path)) as db:
            if db.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                return True
            for _, ts, body in db.execute(SAMPLES):
                sample_of(ts, body)
            for row in db.execute(ENTRIES):
                entry_of(row)
            return False
    except sqlite3.DatabaseError as error:
        return is_damage(error)


def _readable(path: Path) -> list[Report]:
    """Every report of which the entry can still be read, with those of its samples that can."""
    samples: dict[Any, dict[str, Any]] = defaultdict(dict)
    entries: dict[int, Entry] = {}
    with closing(_opened(path)) as db:
        for entry_id, ts, body in _rows(db, SAMPLES, "entry_id", "ts"):
            with suppress(RowUnreadable):
                samples[entry_id][ts] = sample_of(ts, body)
        for row in _rows(db, ENTRIES, "id"):
            with suppress(RowUnreadable):
                entries[row[0]] = entry_of(row)
    return [
        Report(entry.kind, entry.key, entry.body, list(samples[entry_id].values()))
        for entry_id, entry in sorted(entries.items())
    ]


def _opened(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path)
    db.text_factory = text_of
    return db


def _rows(db: sqlite3.Connection, query: str, *key: str) -> Iterator[Any]:
    """From the first row on, from the last one back, and of each id by itself: what lies between two bad pages."""
    yield from _both_ways(db, query, key)
    found = {row[0] for ids, order in IDS for row in _both_ways(db, ids, order)}
    for entry_id in (one for one in found if isinstance(one, int)):
        yield from _both_ways(db, f"{query} WHERE {key[0]} = ?", key, entry_id)


def _both_ways(db: sqlite3.Connection, query: str, order: Sequence[str], *values: object) -> Iterator[Any]:
    for direction in ("ASC", "DESC"):
        with suppress(sqlite3.DatabaseError):
            yield from db.execute(f"{query} ORDER BY {', '.join(f'{name} {direction}' for name in order)}", values)
