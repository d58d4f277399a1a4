"""A limit on the whole of a call: read timeouts alone let a server, or a proxy, trickle for ever."""

import math
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx2

from asyncenergy_controller.engine.transport import LimitedStream

MOST_BYTES = 64 << 20


class CallLimits:
    """The limits of one client's calls, set from outside of its transports: proxies of the environment choose those."""

    def __init__(self) -> None:
        self._sockets: list[socket.socket] = []

    def note(self, event: str, info: dict[str, Any]) -> None:
        """As the `trace` of every request: remember the sockets of new connections."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._sockets = [known for known in self._sockets if known.fileno() >= 0]
            self._sockets.append(info["return_value"].get_extra_info("socket"))

    @contextmanager
    def within(self, limit_s: float) -> Iterator[None]:
        """Break off what is still under way after `limit_s` seconds. Raises ReadTimeout."""
        over = threading.Event()
        timer = threading.Timer(limit_s, self._break_off, [over])
        timer.daemon = True
        timer.start()
        try:
            yield
        except httpx2.TransportError:
            if not over.is_set():
                raise
        finally:
            timer.cancel()
        if over.is_set():  # also where the end of the connection was taken for the end of the answer
            raise httpx2.ReadTimeout("the answer took longer than its time limit")

    def _break_off(self, over: threading.Event) -> None:
        """Calls of other threads over the same client end as well; they are repeated."""
        over.set()
        for connected in self._sockets.copy():
            with suppress(OSError):
                socket.socket.shutdown(connected, socket.SHUT_RDWR)  # TLS's own takes its state from a reader


def bound_size(response: httpx2.Response) -> None:
    """As a hook of every answer: end one of more than MOST_BYTES with a ReadError."""
    if isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = LimitedStream(response.stream, math.inf, MOST_BYTES)
