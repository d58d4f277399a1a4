"""Keeps one solver process, asks it, and kills it when an answer is overdue.

A plain child with JSON lines: `multiprocessing` refuses to work inside a worker that is itself a daemon, and a new
process for each question would cost its imports each time.
"""

import atexit
import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from time import monotonic

from scheduling.solver.codec import Answer, Question, answer_from, question_json

ROOT = Path(__file__).resolve().parent.parent.parent
GRACE_S = 20.0  # beyond the search's own limit: imports of a new process, the proof, a busy machine


class SolverFailure(Exception):
    """No answer: overdue, gone, or the question makes no sense (`permanent`)."""

    def __init__(self, message: str, *, permanent: bool = False) -> None:
        super().__init__(message)
        self.permanent = permanent


class Solver:
    """One child process, started when first asked. Threads take turns."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._child: subprocess.Popen[str] | None = None
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def ask(self, question: Question, *, within_s: float | None = None) -> Answer:
        """Return the answer; raises SolverFailure where there is none `within_s` seconds of now."""
        limit_s = question.time_limit_s + GRACE_S if within_s is None else within_s
        give_up_at = monotonic() + limit_s
        if not self._turn.acquire(timeout=limit_s):
            raise SolverFailure(f"the solver was busy for {limit_s:g} s")
        try:
            reply = json.loads(self._exchange(json.dumps(question_json(question)), give_up_at))
        finally:
            self._turn.release()
        if "error" in reply:
            raise SolverFailure(reply["error"], permanent=True)
        return answer_from(reply["answer"])

    def close(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                with suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]  # both are pipes

    def _exchange(self, line: str, give_up_at: float) -> str:
        child = self._running()
        try:
            child.stdin.write(line + "\n")  # type: ignore[union-attr]  # a pipe
            child.stdin.flush()  # type: ignore[union-attr]  # as above
            reply = self._lines.get(timeout=max(0.0, give_up_at - monotonic()))
        except (queue.Empty, OSError) as error:
            self.close()
            raise SolverFailure("the solver's answer is overdue; it was stopped") from error
        if not reply:
            self.close()
            raise SolverFailure("the solver ended without an answer")
        return reply

    def _running(self) -> subprocess.Popen[str]:
        if self._child is None or self._child.poll() is not None:
            self.close()
            self._lines = queue.SimpleQueue()
            self._child = subprocess.Popen(
                [sys.executable, "-m", "scheduling.solver"],
                cwd=ROOT,
                env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                bufsize=1,
            )
            threading.Thread(target=_read, args=(self._child, self._lines), daemon=True).start()
        return self._child


def _read(child: subprocess.Popen[str], lines: "queue.SimpleQueue[str]") -> None:
    """Hand on every line, and an empty one at the end."""
    with suppress(ValueError):  # closed by us
        for line in child.stdout or ():
            lines.put(line)
    lines.put("")


_solver = Solver()
_owner = os.getpid()


@atexit.register
def _close() -> None:
    _solver.close()


def solve(question: Question, *, within_s: float | None = None) -> Answer:
    """Ask the solver of this process; a process that was forked off gets one of its own."""
    global _solver, _owner
    if _owner != os.getpid():
        _solver, _owner = Solver(), os.getpid()
    return _solver.ask(question, within_s=within_s)
