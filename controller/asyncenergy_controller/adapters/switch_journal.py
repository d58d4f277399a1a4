"""Which plugs are held on: on disk before they are switched on, until they are off again."""

import hashlib
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from asyncenergy_controller.files import PRIVATE_FILE, FileUnreadable, read_json, write_json
from asyncenergy_controller.liveness import mark_of, still_runs

FOLDER = "switches"
NOBODY = 0


@dataclass(frozen=True)
class Held:
    """One plug that may be on, and the process that holds it."""

    switch: str
    secret: str | None
    pid: int
    pid_created_s: float
    pid_mark: str | None = None

    def is_held(self) -> bool:
        """Say whether that process still runs."""
        return self.pid != NOBODY and still_runs(self.pid, self.pid_created_s, self.pid_mark)


class SwitchJournal:
    """One file a plug, for its owner alone: it holds what is needed to switch it off."""

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir / FOLDER

    def hold(self, switch: str, secret: str | None) -> None:
        """Note, before it is switched on, that this process holds it."""
        pid = os.getpid()
        self._write(Held(switch, secret, pid, psutil.Process().create_time(), mark_of(pid)))

    def release(self, switch: str, secret: str | None) -> None:
        """Note that it may still be on and nobody holds it."""
        self._write(Held(switch, secret, NOBODY, 0.0))

    def clear(self, switch: str) -> None:
        """Forget it: it is off."""
        self._path(switch).unlink(missing_ok=True)

    def paths(self) -> list[Path]:
        """The files of all plugs that may be on."""
        return sorted(self._folder.glob("*.json"))

    def load(self, path: Path) -> Held:
        """Return what a file says. Raises FileUnreadable, with the way out."""
        try:
            return Held(**read_json(path))
        except (TypeError, OSError, FileUnreadable) as error:
            raise FileUnreadable(
                f"{path} should say which plug may still be on, and doesn't ({error}): look at your plugs, switch "
                "them off by hand if need be, and remove that file"
            ) from error

    def _write(self, held: Held) -> None:
        write_json(self._path(held.switch), asdict(held), mode=PRIVATE_FILE)

    def _path(self, switch: str) -> Path:
        return self._folder / f"{hashlib.sha256(switch.encode()).hexdigest()[:16]}.json"
