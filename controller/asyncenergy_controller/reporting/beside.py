"""Reports that the spool could not take, one a line in a file beside it, until it can."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from asyncenergy_controller.files import PRIVATE_FILE, write_atomically
from asyncenergy_controller.reporting.outbox import Report

try:
    import fcntl
except ImportError:  # Windows has no such lock
    fcntl = None  # type: ignore[assignment]  # a module or nothing


class Beside:
    """The file beside a spool. Any number of processes may use it at once. Raises OSError."""

    def __init__(self, spool: Path) -> None:
        self.path = spool.with_suffix(".jsonl")

    def add(self, report: Report) -> None:
        """Keep a report: on disk when this returns. It begins with a new line, so that a torn one spoils none."""
        line = json.dumps(asdict(report), allow_nan=False).encode()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._alone():
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
            with os.fdopen(handle, "ab") as file:
                file.write(b"\n" + line + b"\n")
                file.flush()
                os.fsync(file.fileno())

    def move_to(self, put: Callable[[Sequence[Report]], None]) -> int:
        """Hand every report on, then forget them; lines that can't be read stay. Returns how many those are."""
        if not self.path.exists():
            return 0
        with self._alone():
            lines = [line for line in self.path.read_bytes().splitlines() if line.strip()]
            read = [_read(line) for line in lines]
            put([report for report in read if report is not None])
            torn = [line for line, report in zip(lines, read, strict=True) if report is None]
            if torn:
                write_atomically(self.path, b"\n".join(torn) + b"\n", mode=PRIVATE_FILE)
            else:
                self.path.unlink()
        return len(torn)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with self.path.with_suffix(".lock").open("a") as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _read(line: bytes) -> Report | None:
    try:
        return Report(**json.loads(line))
    except (ValueError, TypeError):
        return None
