"""One piece of a run: what an adapter has besides the request."""

from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from asyncenergy_controller.adapters.leash import Leash
from asyncenergy_controller.adapters.log import CappedLog


@dataclass(frozen=True)
class Piece:
    """`run_id` and `number` (1 for a run that was not interrupted) were made on this machine."""

    run_id: UUID
    number: int
    done: float
    leash: Leash
    log: CappedLog
    state_dir: Path
    exit_path: Path
    """Keeps the exit code of a program."""
