"""What a job said: the beginning and the end of it, for its owner alone."""

import os
from pathlib import Path
from typing import Self

MOST_BYTES = 1 << 20
RECENT_BYTES = 1000
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700


class CappedLog:
    """Appends to a file. What is too much is left out in the middle; a full disk never stops the job."""

    def __init__(self, path: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self.problem: str | None = None
        self._half = most_bytes // 2
        self._head_left = self._half
        self._tail = bytearray()
        self._recent = b""
        self._dropped = 0
        self._file = self._opened(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Put the end of the output behind its beginning."""
        self._trim()
        if self._dropped:
            self._put(b"\n[... %d bytes left out ...]\n" % self._dropped)
        self._put(bytes(self._tail))
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def write(self, data: bytes) -> None:
        """Keep what there is room for."""
        self._recent = (self._recent + data)[-RECENT_BYTES:]
        head, rest = data[: self._head_left], data[self._head_left :]
        self._head_left -= len(head)
        self._put(head)
        self._tail += rest
        if len(self._tail) > 2 * self._half:
            self._trim()

    def last_line(self) -> str:
        """The last line that isn't blank, shortened; empty where there is none."""
        lines = self._recent.decode(errors="replace").split("\n")
        return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")

    def _trim(self) -> None:
        excess = max(len(self._tail) - self._half, 0)
        del self._tail[:excess]
        self._dropped += excess

    def _put(self, data: bytes) -> None:
        if self._file is None or not data:
            return
        try:
            os.write(self._file, data)
        except OSError as error:
            self.problem = f"the log could not be kept: {error.strerror}"

    def _opened(self, path: Path) -> int | None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            file = os.open(path, flags, PRIVATE_FILE)
            os.fchmod(file, PRIVATE_FILE)
        except OSError as error:
            self.problem = f"{path} can't be written: {error.strerror}"
            return None
        return file
