"""Ctrl-C and termination end a benchmark in good order; a second Ctrl-C ends it at once."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from asyncenergy_controller.bench.stop import StopFlag
from asyncenergy_controller.cli.console import say
from asyncenergy_controller.errors import ExitCode

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopping_on_signals(stop: StopFlag) -> Iterator[None]:
    """For as long as the context lasts. Outside the main thread signals can't be caught, and nothing is changed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, _frame: FrameType | None) -> None:
        name = signal.Signals(number).name
        if stop.reason is not None:
            os._exit(ExitCode.INTERRUPTED)  # every line is on disk already
        stop.set(f"interrupted by {name}")
        say(f"{name}: waiting for the questions in flight, then keeping what is finished. Once more ends it at once.")

    before = {number: signal.signal(number, handle) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
