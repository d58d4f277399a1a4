"""Runs something until it ends or somebody asks it to."""

import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from asyncenergy_controller.cli.console import say
from asyncenergy_controller.cli.signals import HANGUP, caught, end_at_once, leave, terminals

DONE = b"\0"
Result = TypeVar("Result")


def until_signal(
    work: Callable[[], Result], stop: Callable[[], None], put_back: Callable[[], None] | None = None
) -> tuple[Result, signal.Signals | None]:
    """Return what `work` returns, and the signal at which `stop` was called; a second signal ends the process at once.

    Before that, `put_back` undoes what was changed on a GPU.

    `work` runs in a thread of its own and this one only waits: a handler that interrupts a thread in the middle of
    taking a lock could never take it.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = {number: signal.signal(number, lambda *_: None) for number in caught()}
    signal.set_wakeup_fd(writer)
    try:
        with ThreadPoolExecutor(1, thread_name_prefix="loop") as pool:
            future = pool.submit(work)
            future.add_done_callback(lambda _: os.write(writer, DONE))
            first = _first_signal(reader, stop, put_back)
        return future.result(), first
    finally:
        signal.set_wakeup_fd(-1)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reader)
        os.close(writer)


def _first_signal(reader: int, stop: Callable[[], None], put_back: Callable[[], None] | None) -> signal.Signals | None:
    """Wait until the work is done."""
    first: signal.Signals | None = None
    outputs = terminals()
    while (byte := os.read(reader, 1)) != DONE:
        if byte[0] == HANGUP:
            leave(outputs)
        if first is not None:
            for number in caught():  # a third does not wait for the card either
                signal.signal(number, signal.SIG_DFL)
            end_at_once(put_back)
        first = signal.Signals(byte[0])
        say(f"{first.name}: ending in good order. Once more ends it at once.")
        stop()
    return first
