"""What was changed on a GPU: on disk before it is changed, until it is changed back."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.files import lock, make_folders, write_atomically
from asyncenergy_controller.liveness import still_runs


class JournalBroken(ControllerError):
    """A journal that cannot be read: what it was about is unknown."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One board that may not be as its owner left it. Limits are in milliwatts."""

    uuid: str
    name: str
    before_mw: int
    restore_mw: int
    pid: int
    pid_created_s: float
    set_mw: tuple[int, ...] = ()
    """Every limit that may have been set."""
    clock_locked: bool = False
    pid_mark: str | None = None
    """What `liveness.mark_of` told of the process; journals of earlier versions lack it."""

    def is_alive(self) -> bool:
        """Say whether the process that wrote it still runs."""
        return still_runs(self.pid, self.pid_created_s, self.pid_mark)

    def is_ours(self) -> bool:
        return self.pid == os.getpid() and self.is_alive()


class Journal:
    """One file a board, in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def paths(self) -> Iterator[Path]:
        yield from sorted(self._folder.glob("*.json"))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While no other process looks whether a board is free, or heals one."""
        make_folders(self._folder)
        held = lock(self._folder / ".lock", wait=True)
        try:
            yield
        finally:
            if held:
                held.close()

    def read(self, uuid: str) -> Entry | None:
        """Return the board's entry, None where it has none. Raises JournalBroken."""
        path = self._path(uuid)
        return load(path) if path.exists() else None

    def write(self, entry: Entry) -> None:
        """Put the entry on disk, whole and for good, before returning."""
        write_atomically(self._path(entry.uuid), json.dumps(asdict(entry)).encode())
        self._sync_folder()

    def clear(self, uuid: str) -> None:
        """Forget the board: it is as it should be."""
        self._path(uuid).unlink(missing_ok=True)
        self._sync_folder()

    def _path(self, uuid: str) -> Path:
        return self._folder / f"{uuid}.json"

    def _sync_folder(self) -> None:
        if os.name == "posix":
            handle = os.open(self._folder, os.O_RDONLY)
            os.fsync(handle)
            os.close(handle)


def load(path: Path) -> Entry:
    """Return the entry in a file. Raises JournalBroken."""
    try:
        fields = json.loads(path.read_text())
        return Entry(**{**fields, "set_mw": tuple(fields["set_mw"])})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise JournalBroken(
            f"{path} should say which GPU is to be put back, and cannot be read ({type(error).__name__}): look at "
            "`nvidia-smi -q -d POWER`, set the limit by hand if need be, and remove that file"
        ) from error
