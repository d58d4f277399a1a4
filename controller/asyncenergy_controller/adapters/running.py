"""Runs one piece of one job."""

import threading
from pathlib import Path
from uuid import UUID

from asyncenergy_controller.adapters.charge import run_charge
from asyncenergy_controller.adapters.command import run_command
from asyncenergy_controller.adapters.leash import Leash
from asyncenergy_controller.adapters.log import CappedLog
from asyncenergy_controller.adapters.ollama import run_ollama
from asyncenergy_controller.adapters.openai import run_openai
from asyncenergy_controller.adapters.outcome import Outcome
from asyncenergy_controller.adapters.piece import Piece
from asyncenergy_controller.adapters.processes import exit_path_of
from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.jobs.entry import ChargeRequest, CommandRequest, JobEntry, OllamaRequest, OpenAIRequest


def run_entry(
    entry: JobEntry,
    *,
    kill_at_s: float | None,
    log_path: Path,
    stop: threading.Event,
    run_id: UUID | str,
    state_dir: Path,
    piece: int = 1,
    done: float = 0.0,
) -> Outcome:
    """Run the job to its end and return what came of it; no failure of the job raises.

    It is ended at `kill_at_s` (seconds on `clock.monotonic()`), which is an error, and when `stop` is set, which is
    `preempted`. Its output is kept in `log_path`, capped. `run_id` was made on this machine; what is no UUID is
    refused with ValueError. An interrupted job is resumed by calling again with the next `piece` (1, 2, …) and the
    `done` of the last outcome. `state_dir` keeps what a crash must not forget.
    """
    ours = UUID(str(run_id))
    leash = Leash(stop, kill_at_s).shortened(getattr(entry.request, "timeout_s", None))
    with CappedLog(log_path) as log:
        one = Piece(ours, int(piece), float(done), leash, log, state_dir, exit_path_of(log_path))
        if leash.over() is not None:
            return _not_begun(one)
        try:
            return _run(entry, one)
        except (ControllerError, OSError) as error:
            log.write(f"{error}\n".encode(errors="replace"))
            return Outcome("error", str(error), done=one.done)


def _run(entry: JobEntry, piece: Piece) -> Outcome:
    match entry.request:
        case CommandRequest() as request:
            return run_command(request, piece)
        case OllamaRequest() as request:
            return run_ollama(request, piece)
        case OpenAIRequest() as request:
            return run_openai(request, piece)
        case ChargeRequest() as request:
            return run_charge(request, piece)


def _not_begun(piece: Piece) -> Outcome:
    if piece.leash.over() == "stop":
        return Outcome("preempted", "interrupted before it began", done=piece.done)
    return Outcome("error", "its time was over before it began", done=piece.done)
