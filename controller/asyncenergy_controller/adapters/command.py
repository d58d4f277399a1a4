"""A program of this machine."""

import os
import signal
from collections.abc import Mapping

from asyncenergy_controller.adapters.outcome import Outcome
from asyncenergy_controller.adapters.piece import Piece
from asyncenergy_controller.adapters.processes import run_program
from asyncenergy_controller.jobs.entry import CommandRequest
from asyncenergy_controller.settings import DEPLOYED_NAMES, ENV_PREFIX, SECRETS

PIECE = "ASYNCENERGY_PIECE"


def run_command(request: CommandRequest, piece: Piece) -> Outcome:
    """Run it as it stands in jobs.json. Interrupted, it gets SIGTERM, and is started again for its next piece."""
    try:
        code, why = run_program(
            request.command,
            cwd=request.cwd,
            env=environment(request, os.environ) | {PIECE: str(piece.number)},
            run_id=piece.run_id,
            leash=piece.leash,
            log=piece.log,
            exit_path=piece.exit_path,
        )
    except OSError as error:
        return Outcome("error", f"{request.command[0]} can't be started in {request.cwd}: {error.strerror}")
    if why == "stop":
        return Outcome("preempted", "interrupted; it gets SIGTERM and is started again for its next piece")
    if why == "time":
        return Outcome("error", "ended because its time was over")
    if code:
        return Outcome("error", f"{_ending(code)}. Last line of its output: {piece.log.last_line() or 'none'}")
    kind = None if request.work_units is None else request.work_unit_kind
    return Outcome("success", work_units=request.work_units, work_unit_kind=kind)


def environment(request: CommandRequest, ours: Mapping[str, str]) -> dict[str, str]:
    """Our own variables without our secrets, and the job's."""
    hidden = {f"{ENV_PREFIX}{name.upper()}" for name in SECRETS} | {
        variable for variable, name in DEPLOYED_NAMES.items() if name in SECRETS
    }
    return {name: value for name, value in ours.items() if name not in hidden} | request.env


def _ending(code: int) -> str:
    if code > 0:
        return f"it ended with exit code {code}"
    try:
        return f"it was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was ended by signal {-code}"
