"""Read a file that a person names, which may be anything."""

import os
import stat
from collections.abc import Callable
from pathlib import Path


def read_plain_file(
    path: Path, most_bytes: int, check: Callable[[os.stat_result], None] = lambda _: None
) -> tuple[bytes, os.stat_result]:
    """Return at most `most_bytes` + 1 bytes and the state of one and the same file. Never waits, as for a pipe.

    `check` sees the state before anything is read, and may raise. Raises OSError.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(0, "it is no plain file")
        check(found)
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(most_bytes + 1), found
    finally:
        os.close(handle)
