"""Does what a job of jobs.json says. Nothing in here takes a word of the server's.

`run_entry` gets the entry, which was written on this machine, numbers, and paths that the caller made of its own ids:
there is no way by which an answer of the server could become a command, an argument, a path or a variable.
"""

import threading
from pathlib import Path

from asyncenergy_controller.adapters.outcome import ExitStatus, Outcome
from asyncenergy_controller.jobs.entry import JobEntry

__all__ = ["ExitStatus", "Outcome", "fingerprint", "heal_switches", "preflight", "run_entry"]


def run_entry(
    entry: JobEntry,
    *,
    kill_at_s: float | None,
    log_path: Path,
    stop: threading.Event,
    state_dir: Path,
    piece: int = 1,
    done: float = 0.0,
) -> Outcome:
    """Run the job to its end and return what came of it; no failure of the job raises.

    It is ended at `kill_at_s` (seconds on `clock.monotonic()`), which is an error, and when `stop` is set, which is
    `preempted`. Its output is kept in `log_path`, capped. An interrupted job is resumed by calling again with the next
    `piece` (1, 2, …) and the `done` of the last outcome. `state_dir` keeps what a crash must not forget.
    """
    raise NotImplementedError


def fingerprint(entry: JobEntry) -> str:
    """Return what the job's cost depends on, as a digest: the same for tonight's prompt and tomorrow's."""
    raise NotImplementedError


def preflight(entry: JobEntry) -> list[str]:
    """Return what would make the job fail if it ran now, in words; empty where nothing is known. Takes seconds."""
    raise NotImplementedError


def heal_switches(state_dir: Path) -> list[str]:
    """Switch off what a killed process left on, and say so. At every start, and cheap where there is nothing."""
    raise NotImplementedError
