"""The last schedule on disk, for the time when the server can't be reached."""

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from asyncenergy_controller.files import PRIVATE_FILE, FileUnreadable, read_json, write_json
from asyncenergy_controller.server import Schedule, ScheduleUnreadable, decode_schedule

FILE = "schedule.json"


class KeptSchedule:
    """One file; a schedule of another server or another box is none."""

    def __init__(self, state_dir: Path, *, whose: list[str]) -> None:
        """`whose` names the server and the box that the schedule is for."""
        self._path = state_dir / FILE
        self._whose = whose

    def read(self) -> Schedule | None:
        """The schedule that was kept last, None where there is none that can be read."""
        try:
            kept = read_json(self._path)
            return decode_schedule(kept["schedule"]) if kept["whose"] == self._whose else None
        except (FileNotFoundError, FileUnreadable, ScheduleUnreadable, KeyError, TypeError):
            return None

    def write(self, schedule: Schedule) -> None:
        write_json(self._path, {"whose": self._whose, "schedule": encoded(schedule)}, mode=PRIVATE_FILE)

    def forget(self) -> None:
        """The server has none: what was kept isn't followed any more."""
        self._path.unlink(missing_ok=True)


def encoded(schedule: Schedule) -> dict[str, Any]:
    """A schedule as the server writes one, as far as `decode_schedule` reads it."""
    body: dict[str, Any] = _plain(asdict(schedule))
    placed = [row | {"feasible": True, "start": row["start_text"]} for row in body["placements"]]
    return body | {"placements": placed + [row | {"feasible": False} for row in body["unplaced"]]}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value.isoformat() if isinstance(value, datetime) else value
