"""The processes of one run: started in a group of their own, ended to the last one."""

import os
import select
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import psutil

from asyncenergy_controller.adapters.leash import Leash, Why
from asyncenergy_controller.adapters.log import CappedLog
from asyncenergy_controller.clock import monotonic

RUN_ID = "ASYNCENERGY_RUN_ID"
GRACE_S = 10.0
"""Between SIGTERM and SIGKILL."""
GONE_S = 5.0
"""How long we look for what SIGKILL left."""
POLL_S = 0.1
CHUNK = 1 << 16
MOST_CHUNKS = 64
"""More than a pipe holds."""


def run_program(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    run_id: UUID,
    leash: Leash,
    log: CappedLog,
    grace_s: float = GRACE_S,
) -> tuple[int, Why | None]:
    """Run to the end and leave nothing behind. Returns the exit code, and why it was ended if we ended it.

    Raises OSError where it can't be started.
    """
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env={**env, RUN_ID: str(run_id)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        bufsize=0,
    )
    output = _Output(process, log)
    try:
        why = _until_over(process, output, leash)
    finally:
        _end(lambda: _members(process, run_id), output.drain, grace_s)
        output.close()
    code = process.poll()
    return (-signal.SIGKILL if code is None else code), why


def processes_of(run_id: UUID | str) -> list[psutil.Process]:
    """Return the living processes that a run has started, also those that left its group."""
    return [process for process in psutil.process_iter() if _has_run_id(process, str(run_id))]


def end_run(run_id: UUID | str, grace_s: float = GRACE_S) -> int:
    """End what a run has left, as after a crash of ours; return how many processes that were."""
    return _end(lambda: processes_of(run_id), _nap, grace_s)


class _Output:
    """What comes through the pipe goes to the log, without ever waiting for more of it."""

    def __init__(self, process: subprocess.Popen[bytes], log: CappedLog) -> None:
        assert process.stdout is not None
        self._pipe = process.stdout
        self._log = log
        self._ended = False
        os.set_blocking(self._pipe.fileno(), False)

    def drain(self, limit_s: float = POLL_S) -> None:
        """Take what is there; wait up to `limit_s` for it."""
        if self._ended:
            return _nap(limit_s)
        if select.select([self._pipe], [], [], limit_s)[0]:
            chunk = self._pipe.read(CHUNK)
            self._ended = chunk == b""
            self._log.write(chunk or b"")
        return None

    def close(self) -> None:
        """Take the rest, as far as it has been written; a process that got away may still hold the other end."""
        with self._pipe:
            for _ in range(MOST_CHUNKS):
                chunk = None if self._ended else self._pipe.read(CHUNK)
                if not chunk:
                    return
                self._log.write(chunk)


def _until_over(process: subprocess.Popen[bytes], output: _Output, leash: Leash) -> Why | None:
    while process.poll() is None:
        why = leash.over()
        if why is not None:
            return why
        output.drain()
    return None


def _end(living: Callable[[], list[psutil.Process]], wait: Callable[[], None], grace_s: float) -> int:
    """SIGTERM to all, SIGKILL to those that are still there after `grace_s`, and to what they started meanwhile."""
    count = _signal(living(), signal.SIGTERM)
    kill_at_s = monotonic() + grace_s
    give_up_s = kill_at_s + GONE_S
    while (left := living()) and monotonic() < give_up_s:
        if monotonic() >= kill_at_s:
            _signal(left, signal.SIGKILL)
        wait()
    return count


def _signal(processes: list[psutil.Process], number: signal.Signals) -> int:
    for process in processes:
        with suppress(psutil.Error):
            process.send_signal(number)
    return len(processes)


def _members(process: subprocess.Popen[bytes], run_id: UUID) -> list[psutil.Process]:
    """Its group, also what cleared its environment, and what carries the run's id, also what left the group."""
    process.poll()
    return [one for one in psutil.process_iter() if _is_in_group(one, process.pid) or _has_run_id(one, str(run_id))]


def _is_in_group(process: psutil.Process, group: int) -> bool:
    with suppress(psutil.Error, OSError):
        return os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE
    return False


def _has_run_id(process: psutil.Process, run_id: str) -> bool:
    with suppress(psutil.Error, OSError):
        return process.environ().get(RUN_ID) == run_id and process.status() != psutil.STATUS_ZOMBIE
    return False


def _nap(seconds: float = POLL_S) -> None:
    select.select([], [], [], seconds)
