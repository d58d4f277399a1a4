"""A meter in a process of its own: the memory that a driver takes, and the card that it keeps awake, are given back.

The two speak through a pipe. The process ends with the pipe, however its asker went; what signals an asker does not
reach it, so the last reading is still there to be had.
"""

import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from multiprocessing.connection import Connection, Pipe
from typing import Any

from asyncenergy_controller.errors import ControllerError, MeterError
from asyncenergy_controller.meters.base import Meter, MeterInfo, Reading
from asyncenergy_controller.meters.select import open_meter

WITHOUT_DRIVER = ("nvidia-smi", "rapl", "simulated", "null")
"""Kinds that load no library of a driver: a process of their own would only cost."""
ANSWER_LIMIT_S = 60.0
"""Opening a card that sleeps takes seconds; a driver that hangs never answers."""
END_LIMIT_S = 5.0


def open_apart(kind: str, device: str | None, **how: Any) -> Meter:
    """Open what `open_meter` would, in a process of its own where a driver's library is loaded for it.

    Raises what `open_meter` raises, and MeterError where the process fails.
    """
    return open_meter(kind, device, **how) if kind in WITHOUT_DRIVER else MeterApart(kind=kind, device=device, **how)


class MeterApart:
    """Asks a process that has opened the meter. One that ends or hangs costs the readings, not the asker."""

    def __init__(self, **how: Any) -> None:
        """`how` is what `open_meter` takes."""
        self._pipe, theirs = Pipe()
        with theirs:
            command = [sys.executable, "-P", "-m", __name__, str(theirs.fileno())]
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], start_new_session=True
            )
        try:
            self.name: str = self._ask(how)
            self._info: MeterInfo = self._ask("info")
        except BaseException:
            self.close()
            raise

    def info(self) -> MeterInfo:
        """What is measured; what it said last, and why, where its process has ended."""
        try:
            self._info = self._ask("info")
        except MeterError as error:
            self._info = replace(self._info, reasons=self._info.reasons | {"meter": error.message})
        return self._info

    def read(self) -> Reading:
        reading: Reading = self._ask("read")
        return reading

    def close(self) -> None:
        """End the process; one that hangs in its driver is killed."""
        self._pipe.close()
        try:
            self._process.wait(END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._kill()

    def _ask(self, order: Any) -> Any:
        try:
            self._pipe.send(order)
            if not self._pipe.poll(ANSWER_LIMIT_S):
                self._kill()
                raise MeterError(f"the meter did not answer within {ANSWER_LIMIT_S:g} s and was ended")
            answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise MeterError("the meter's process has ended; the log says why") from error
        if isinstance(answer, ControllerError):
            raise answer
        return answer

    def _kill(self) -> None:
        """A process that waits inside its driver may outlast even this, and is then left to the system."""
        self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_LIMIT_S)


def main(number: int) -> None:
    """Serve the asker at the other end of the pipe with this file number, until it closes it."""
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.SIG_IGN)
    with suppress(EOFError, BrokenPipeError), Connection(number) as pipe:
        _serve(pipe)


def _serve(pipe: Connection) -> None:
    how = pipe.recv()
    meter = _tried(lambda: open_meter(**how))
    if isinstance(meter, ControllerError):
        pipe.send(meter)
        return
    with closing(meter):
        pipe.send(meter.name)
        while True:
            pipe.send(_tried({"info": meter.info, "read": meter.read}[pipe.recv()]))


def _tried(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except ControllerError as error:
        return error
    except Exception as error:  # noqa: BLE001 - a fault of a driver costs this answer, as it would in the sampler
        return MeterError(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
