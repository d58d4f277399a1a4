"""The file of reports that wait: SQLite, on disk at every commit, open only while it is used."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from asyncenergy_controller.reporting.rows import (
    ENTRIES,
    Entry,
    Kind,
    RowUnreadable,
    entry_of,
    sample_of,
    text_of,
)

LAYOUT = 1
BUSY_S = 10.0
"""How long to wait for another process that writes."""
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600

TABLES = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS entry (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('run', 'ack')),
  key TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL,
  server_id TEXT,
  refused TEXT,
  failures INTEGER NOT NULL DEFAULT 0,
  thinned INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS sample (
  entry_id INTEGER NOT NULL REFERENCES entry ON DELETE CASCADE,
  ts TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (entry_id, ts)
) WITHOUT ROWID;
PRAGMA user_version = {LAYOUT};
COMMIT;
"""
UNSENT = f"{ENTRIES} WHERE server_id IS NULL AND refused IS NULL ORDER BY failures, id LIMIT ?"
HALF_SENT = f"{ENTRIES} WHERE server_id IS NOT NULL AND refused IS NULL ORDER BY failures, id LIMIT 1"
FORGET = """
DELETE FROM entry WHERE id = :entry AND server_id IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM sample WHERE entry_id = :entry)
"""
THICKEST = """
SELECT entry_id FROM sample JOIN entry ON entry.id = entry_id
GROUP BY entry_id HAVING count(*) > 2 ORDER BY thinned, entry_id LIMIT 1
"""
EVERY_SECOND = """
DELETE FROM sample WHERE entry_id = :entry AND ts IN (
  SELECT ts FROM (
    SELECT ts, row_number() OVER (ORDER BY ts) AS place, count(*) OVER () AS total FROM sample WHERE entry_id = :entry
  ) WHERE place % 2 = 0 AND place < total
)
"""


class LayoutUnknown(sqlite3.OperationalError):
    """The file was written by a newer controller."""


@dataclass(frozen=True, slots=True)
class Report:
    """One report as it comes: what it is, what makes it the same as another, and what is sent."""

    kind: Kind
    key: str
    body: Mapping[str, Any]
    samples: Sequence[Mapping[str, Any]] = ()


class Outbox:
    """Every method is one transaction. Raises sqlite3.Error (RowUnreadable among them) and OSError."""

    def __init__(self, path: Path, samples_at_most: int) -> None:
        self.path = path
        self._samples_at_most = samples_at_most

    def put(self, reports: Sequence[Report]) -> None:
        """Keep reports; one whose key is known adds only samples that are new."""
        with self._transaction() as db:
            for report in reports:
                _thin(db, self._samples_at_most - len(report.samples))  # before, so that the file doesn't grow
                _insert(db, report)
            _thin(db, self._samples_at_most)

    def unsent(self, limit: int) -> list[Entry]:
        """The oldest reports that the server doesn't have, of one kind; those that failed less often go first."""
        with self._transaction() as db:
            entries = [entry_of(row) for row in db.execute(UNSENT, (limit,))]
        alike = takewhile(lambda one: (one.kind, one.failures) == (entries[0].kind, entries[0].failures), entries)
        return list(alike)

    def with_samples(self, limit: int) -> tuple[Entry, list[dict[str, Any]]] | None:
        """The oldest run that the server has without all its samples, and up to `limit` of them in order of time."""
        with self._transaction() as db:
            row = db.execute(HALF_SENT).fetchone()
            if row is None:
                return None
            rows = db.execute("SELECT ts, body FROM sample WHERE entry_id = ? ORDER BY ts LIMIT ?", (row[0], limit))
            return entry_of(row), [sample_of(ts, body) for ts, body in rows]

    def sent(self, server_ids: Mapping[int, str]) -> None:
        """The server has the entries of these ids. Its own id of each is kept until the samples are sent as well."""
        with self._transaction() as db:
            for entry_id, server_id in server_ids.items():
                changed = db.execute("UPDATE entry SET server_id = ? WHERE id = ?", (server_id, entry_id))
                _check_found(changed)
                db.execute(FORGET, {"entry": entry_id})

    def samples_sent(self, entry: Entry, times: Sequence[str]) -> None:
        """The server has the samples of these times."""
        with self._transaction() as db:
            keys = [(entry.id, ts) for ts in times]
            _check_found(db.executemany("DELETE FROM sample WHERE entry_id = ? AND ts = ?", keys))
            db.execute(FORGET, {"entry": entry.id})

    def send_again(self, entry: Entry) -> None:
        """The server has lost it."""
        with self._transaction() as db:
            db.execute("UPDATE entry SET server_id = NULL, failures = failures + 1 WHERE id = ?", (entry.id,))

    def failed(self, entry: Entry) -> None:
        """Let the others go first."""
        with self._transaction() as db:
            db.execute("UPDATE entry SET failures = failures + 1 WHERE id = ?", (entry.id,))

    def refuse(self, entry: Entry, reason: str) -> None:
        """Set it aside: it is kept, and not sent again."""
        with self._transaction() as db:
            db.execute("UPDATE entry SET refused = ? WHERE id = ?", (reason, entry.id))

    def unrefuse(self) -> int:
        """Let everything that was set aside be sent again; return how much that is."""
        with self._transaction() as db:
            return db.execute("UPDATE entry SET refused = NULL, failures = 0 WHERE refused IS NOT NULL").rowcount

    def refused(self) -> list[tuple[Kind, str, str]]:
        """Kind, key and reason of what was set aside."""
        with self._transaction() as db:
            return db.execute("SELECT kind, key, refused FROM entry WHERE refused IS NOT NULL ORDER BY id").fetchall()

    def counts(self) -> dict[str, int]:
        """How many `run` and `ack` entries wait, how many were `refused`, how many samples are kept."""
        with self._transaction() as db:
            rows = db.execute("SELECT iif(refused IS NULL, kind, 'refused'), count(*) FROM entry GROUP BY 1").fetchall()
            (samples,) = db.execute("SELECT count(*) FROM sample").fetchone()
        return {"run": 0, "ack": 0, "refused": 0, **dict(rows), "sample": samples}

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with closing(self._open()) as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.rollback()
                raise
            db.commit()

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        self.path.touch(mode=PRIVATE_FILE)
        db = sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None)
        db.text_factory = text_of
        try:
            _prepare(db)
        except BaseException:
            db.close()
            raise
        return db


def _prepare(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA foreign_keys = ON")
    (layout,) = db.execute("PRAGMA user_version").fetchone()
    if layout > LAYOUT:
        raise LayoutUnknown(f"it has layout {layout}, and this controller knows {LAYOUT}: update the controller")
    if layout < LAYOUT:
        db.executescript(TABLES)


def _check_found(changed: sqlite3.Cursor) -> None:
    """What was just read and can't be found by its key would be sent again and again."""
    if not changed.rowcount:
        raise RowUnreadable("a row is not where its key says")


def _insert(db: sqlite3.Connection, report: Report) -> None:
    body = json.dumps(report.body, allow_nan=False, sort_keys=True)
    row = (report.kind, report.key, body)
    db.execute("INSERT INTO entry (kind, key, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", row)
    (entry,) = db.execute("SELECT id FROM entry WHERE key = ?", (report.key,)).fetchone()
    rows = ((entry, sample["ts"], json.dumps(sample, allow_nan=False)) for sample in report.samples)
    db.executemany("INSERT INTO sample VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows)


def _thin(db: sqlite3.Connection, samples_at_most: int) -> None:
    """While there are more samples, drop every second one of the oldest run among those thinned least.

    First and last sample stay, so that the run keeps its length.
    """
    while db.execute("SELECT count(*) FROM sample").fetchone()[0] > samples_at_most:
        thickest = db.execute(THICKEST).fetchone()
        if thickest is None:
            return
        db.execute(EVERY_SECOND, {"entry": thickest[0]})
        db.execute("UPDATE entry SET thinned = thinned + 1 WHERE id = ?", thickest)
