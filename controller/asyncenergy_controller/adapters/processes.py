"""The processes of one run: started in a group of their own, ended to the last one.

Between us and a job stands a shell that reads none of its words. It waits, and keeps the exit code on disk: a job that
outlives its controller is not taken for one that never ended, and so is not run again.
"""

import errno
import os
import select
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import psutil

from asyncenergy_controller.adapters.leash import Leash, Why
from asyncenergy_controller.adapters.log import CappedLog
from asyncenergy_controller.clock import monotonic

RUN_ID = "ASYNCENERGY_RUN_ID"
KEEPER = ("/bin/sh", "-c", 'trap : TERM PIPE; "$@"; code=$?; echo $code >"$0.new" && mv -f "$0.new" "$0"; exit $code')
"""Takes the file of the exit code and then the job. It outlives a SIGTERM, and a pipe that nobody reads any more, to
say what came of it."""
BY_SIGNAL = 128
"""What a shell adds to the number of a signal."""
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
    exit_path: Path,
    grace_s: float = GRACE_S,
) -> tuple[int, Why | None]:
    """Run to the end and leave nothing behind. Returns the exit code, and why it was ended if we ended it.

    `exit_path` keeps the code of a job that ends. Raises OSError where it can't be started.
    """
    process = subprocess.Popen(
        [*KEEPER, str(exit_path), _program(command[0], cwd, env), *command[1:]],
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
    return (-signal.SIGKILL if code is None else _as_subprocess_says(code)), why


def exit_code_of(log_path: Path) -> int | None:
    """Return how the job with this log ended, whoever was there to see it; below 0 is a signal, None is not known."""
    try:
        return _as_subprocess_says(int(exit_path_of(log_path).read_text()))
    except (FileNotFoundError, ValueError):
        return None


def exit_path_of(log_path: Path) -> Path:
    """Return where the exit code of the job with this log is kept."""
    return log_path.with_suffix(".exit")


def processes_of(run_id: UUID | str) -> list[psutil.Process]:
    """Return the living processes that a run has started, also those that left its group."""
    return [process for process in _all_processes() if _has_run_id(process, str(run_id))]


def end_run(run_id: UUID | str, grace_s: float = GRACE_S) -> int:
    """End what a run has left, as after a crash of ours; return how many processes that were."""
    return _end(lambda: processes_of(run_id), _nap, grace_s)


def _program(name: str, cwd: Path, env: Mapping[str, str]) -> str:
    """Return the path of the program, so that the shell takes no word for one of its own."""
    found = shutil.which(cwd / name if os.sep in name else name, path=env.get("PATH", os.defpath))
    if found is not None:
        return os.fspath(found)
    is_there = os.sep in name and (cwd / name).exists()
    number = errno.EACCES if is_there else errno.ENOENT
    raise OSError(number, os.strerror(number), name)


def _as_subprocess_says(code: int) -> int:
    return BY_SIGNAL - code if code > BY_SIGNAL else code


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
    while (left := living() or living()) and monotonic() < give_up_s:  # one may hand over to another while we look
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
    return [one for one in _all_processes() if _is_in_group(one, process.pid) or _has_run_id(one, str(run_id))]


def _all_processes() -> Iterator[psutil.Process]:
    """Look at each anew: `process_iter` takes a process for the one that had its number before, and spares it."""
    for pid in psutil.pids():
        with suppress(psutil.Error):
            yield psutil.Process(pid)


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
