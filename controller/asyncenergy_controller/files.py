"""Files that survive a crash: whole or not there, and tables that grow line by line."""

import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from asyncenergy_controller.errors import ControllerError

try:
    import fcntl
except ImportError:  # Windows has no such lock
    fcntl = None  # type: ignore[assignment]  # a module or nothing

PRIVATE_FILE = 0o600


class FileUnreadable(ControllerError):
    """A file of ours that was changed or damaged; the message names it."""


def write_atomically(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write beside `path` and rename: a reader sees the old file or the new one, never half of one."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.new")
    make_folders(path.parent)
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def make_folders(folder: Path, mode: int = 0o755) -> None:
    """Make what is missing of a path. Nobody else can write there, whatever the umask: jobs.json may be beside us."""
    for one in reversed([folder, *folder.parents]):
        if not one.exists():
            one.mkdir(mode=mode, exist_ok=True)


def write_json(path: Path, value: Any, *, mode: int = 0o644) -> None:
    """Write as indented JSON, atomically. Raises ValueError for NaN and infinity.

    It is ASCII: half a pair of surrogates, which a model or an engine may send, has no other form on disk.
    """
    write_atomically(path, json.dumps(value, indent=2, allow_nan=False).encode() + b"\n", mode=mode)


def read_json(path: Path) -> Any:
    """Raises FileNotFoundError, and FileUnreadable for what is no JSON."""
    try:
        return json.loads(path.read_bytes())
    except ValueError as error:
        raise FileUnreadable(f"{path} is no readable JSON ({error}); move it away or restore it.") from error


class LineWriter:
    """Appends JSON lines, in ASCII as `write_json` does; each is on its way to the disk when `add` returns."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="ascii")

    def add(self, row: Mapping[str, Any]) -> None:
        self._file.write(_line(row))
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write all lines at once, instead of what is there."""
    write_atomically(path, "".join(map(_line, rows)).encode("ascii"))


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, separators=(",", ":")) + "\n"


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the whole lines. A last line cut off by a crash is passed over; a broken one elsewhere is an error."""
    if not path.exists():
        return
    lines = (
        path.read_bytes().removesuffix(b"\n").split(b"\n")
    )  # text knows more line breaks, which JSON does not escape
    for number, line in enumerate(lines, start=1):
        try:
            yield json.loads(line)
        except ValueError as error:
            if number == len(lines):
                return
            raise FileUnreadable(f"{path} line {number} is no JSON ({error}); restore the file.") from error


def lock(path: Path, *, wait: bool = False) -> IO[str] | None:
    """Hold `path` until the returned file is closed or the process ends.

    Where somebody else holds it, `wait` until they let go, else return None.
    """
    file = path.open("a", encoding="utf-8")
    if fcntl is None:
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        file.close()
        return None
    return file
