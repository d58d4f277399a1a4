"""What has run on this box, on disk: a restart never runs an occurrence twice."""

import json
import sqlite3
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.loop.due import PastRun, RunStatus, is_over
from asyncenergy_controller.loop.slots import Slot

KEPT = timedelta(days=90)
WAIT_S = 10.0
SCHEMA = """
CREATE TABLE IF NOT EXISTS run (
    run_id TEXT PRIMARY KEY,
    workflow_id TEXT NOT NULL,
    occurrence TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    piece TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    done REAL NOT NULL DEFAULT 0,
    about TEXT NOT NULL,
    UNIQUE (workflow_id, occurrence, attempt, piece)
);
CREATE INDEX IF NOT EXISTS run_by_start ON run (workflow_id, started_at);
CREATE INDEX IF NOT EXISTS run_by_status ON run (status) WHERE status = 'running';
"""


@dataclass(frozen=True, slots=True)
class About:
    """What has to be said of a run even where the box dies before its end."""

    schedule_version: int
    scheduled_start: str
    occurrence_id: str | None
    framework: str | None = None
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to run one piece of one attempt, given once."""

    run_id: str
    workflow_id: str
    started_at: datetime
    about: About
    number: int = 1
    """Which piece of its attempt it is, from 1."""
    done: float = 0.0
    """What the pieces before it have done, in the job's own unit."""


class HistoryUnreadable(ControllerError):
    """The file that says what has run is damaged; nothing is run without it."""


class History:
    """One SQLite file. May be used from several threads; one process at a time writes.

    Every method raises HistoryUnreadable where the file can't be used: a full disk, a damaged file.
    """

    def __init__(self, path: Path) -> None:
        """Open or make the file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._one_at_a_time = threading.Lock()
        self._db = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None, check_same_thread=False)
        with self._reading() as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            db.executescript(SCHEMA)
        path.chmod(0o600)

    def close(self) -> None:
        self._db.close()

    def claim(self, slot: Slot, about: About, now: datetime, *, status: RunStatus = "running") -> Claim | None:
        """Note on disk that a slot is begun, before it is; None where it was begun before, or its work is over.

        With the status `missed` nothing is run: it is settled from the start.
        """
        run_id, key = str(uuid.uuid4()), _key(slot)
        ended = None if status == "running" else _text(now)
        with self._transaction():
            if is_over(slot, self._past_of(*key[:2])):
                return None
            pieces, done = self._pieces(*key[:3])
            self._db.execute(
                "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (run_id, *key, status, _text(now), ended, done, json.dumps(asdict(about))),
            )
        return Claim(run_id, key[0], now, about, number=pieces + 1, done=done)

    def settle(self, run_id: str, status: RunStatus, now: datetime, *, done: float = 0.0) -> None:
        """Note how a claimed run ended."""
        with self._transaction():
            self._db.execute(
                "UPDATE run SET status = ?, ended_at = ?, done = ? WHERE run_id = ?", (status, _text(now), done, run_id)
            )

    def unsettled(self) -> list[Claim]:
        """Runs that were going on when this box, or its controller, died."""
        with self._reading() as db:
            rows = db.execute("SELECT run_id, workflow_id, started_at, about FROM run WHERE status = 'running'")
            return [
                Claim(run_id, workflow_id, datetime.fromisoformat(started), About(**json.loads(about)))
                for run_id, workflow_id, started, about in rows
            ]

    def past_of(self, slots: Sequence[Slot]) -> list[PastRun]:
        """All runs of the occurrences that these slots belong to."""
        with self._reading():
            keys = dict.fromkeys(_key(slot)[:2] for slot in slots)
            return [run for key in keys for run in self._past_of(*key)]

    def starts(self, workflow_id: str, since: datetime, *, but_for: Slot) -> list[datetime]:
        """When the attempts at a workflow began, without the one of `but_for`; later pieces are no starts."""
        _, *attempt = _key(but_for)[:3]
        with self._reading() as db:
            rows = db.execute(
                "SELECT MIN(started_at) FROM run WHERE workflow_id = ? AND status != 'missed' "
                "AND (occurrence, attempt) != (?, ?) GROUP BY occurrence, attempt HAVING MIN(started_at) >= ?",
                (workflow_id, *attempt, _text(since)),
            )
            return [datetime.fromisoformat(started) for (started,) in rows]

    def forget_old(self, now: datetime) -> None:
        """Drop what can't matter any more."""
        with self._transaction():
            self._db.execute("DELETE FROM run WHERE ended_at < ?", (_text(now - KEPT),))

    def _past_of(self, workflow_id: str, occurrence: str) -> list[PastRun]:
        rows = self._db.execute(
            "SELECT attempt, piece, status, started_at FROM run WHERE (workflow_id, occurrence) = (?, ?)",
            (workflow_id, occurrence),
        )
        return [
            PastRun(workflow_id, occurrence, attempt, piece, status, datetime.fromisoformat(started))
            for attempt, piece, status, started in rows
        ]

    def _pieces(self, workflow_id: str, occurrence: str, attempt: int) -> tuple[int, float]:
        """How many pieces of an attempt have begun, and what they have done."""
        row = self._db.execute(
            "SELECT COUNT(*), MAX(done) FROM run WHERE (workflow_id, occurrence, attempt) = (?, ?, ?)",
            (workflow_id, occurrence, attempt),
        ).fetchone()
        return int(row[0]), float(row[1] or 0.0)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._one_at_a_time:
            try:
                yield self._db
            except sqlite3.OperationalError as error:
                raise HistoryUnreadable(f"{self._path}, which says what has run, can't be used: {error}.") from error
            except sqlite3.DatabaseError as error:
                raise HistoryUnreadable(
                    f"{self._path}, which says what has run, is damaged ({error}). Nothing is run without it. Restore "
                    "it, or move it away: what this box has run is then not known to it, and could be run again."
                ) from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All of it is on the disk when this ends, or nothing."""
        with self._reading() as db, db:
            db.execute("BEGIN IMMEDIATE")
            yield


def _key(slot: Slot) -> tuple[str, str, int, str]:
    return slot.placement.workflow_id, slot.occurrence, slot.placement.attempt, slot.piece


def _text(at: datetime) -> str:
    """UTC, so that texts sort as the times do."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")
