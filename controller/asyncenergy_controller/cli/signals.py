"""Ctrl-C, termination and a closed terminal end a benchmark in good order; a second Ctrl-C ends it at once."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from asyncenergy_controller.bench.stop import StopFlag
from asyncenergy_controller.cli.console import say
from asyncenergy_controller.errors import ControllerError, ExitCode

SIGNALS = (signal.SIGINT, signal.SIGTERM)
HANGUP = getattr(signal, "SIGHUP", None)
"""The terminal was closed, or the connection to it broke; Windows has none."""
OUTPUTS = (1, 2)


@contextmanager
def stopping_on_signals(stop: StopFlag, put_back: Callable[[], None]) -> Iterator[None]:
    """For as long as the context lasts; `put_back` undoes what was changed on a GPU where the process ends at once.

    Outside the main thread signals can't be caught, and nothing is changed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ending = _Ending(stop, put_back)
    before = {number: signal.signal(number, ending) for number in caught()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def caught() -> tuple[signal.Signals, ...]:
    """`nohup` has the hang-up ignored, and so it stays."""
    if HANGUP is None or signal.getsignal(HANGUP) is signal.SIG_IGN:
        return SIGNALS
    return (*SIGNALS, HANGUP)


class _Ending:
    def __init__(self, stop: StopFlag, put_back: Callable[[], None]) -> None:
        self._stop = stop
        self._put_back = put_back
        self._terminals = terminals()
        self._caught = 0

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        self._caught += 1
        name = signal.Signals(number).name
        if number == HANGUP:
            leave(self._terminals)
        if self._caught > 1:
            end_at_once(self._put_back if self._caught == 2 else None)  # a third does not wait for the card either
        self._stop.set(f"interrupted by {name}")
        say(f"{name}: waiting for the questions in flight, then keeping what is finished. Once more ends it at once.")


def end_at_once(put_back: Callable[[], None] | None) -> NoReturn:
    """Every line is on disk already."""
    try:
        if put_back:
            put_back()
    except (ControllerError, OSError) as error:
        say(str(error))
    finally:
        os._exit(ExitCode.INTERRUPTED)


def terminals() -> list[int]:
    """Outputs that end in one; asked before it is closed."""
    return [output for output in OUTPUTS if os.isatty(output)]


def leave(closed: Sequence[int]) -> None:
    """What is written to a closed terminal is an error, which would end the work before its result is kept."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for output in closed:
        os.dup2(nowhere, output)
    os.close(nowhere)
