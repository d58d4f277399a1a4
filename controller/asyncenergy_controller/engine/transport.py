"""A limit on the time and the size of an answer: read timeouts alone let a server trickle for ever."""

import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx2

from asyncenergy_controller.tls import trusted_roots

MOST_BYTES = 256 << 20


class TimeLimitedTransport(httpx2.HTTPTransport):
    """Ends an answer that is still coming `limit_s` seconds after it was asked for, or that is far too long."""

    def __init__(self, *, limit_s: float, most_bytes: int = MOST_BYTES) -> None:
        # Servers drop idle connections after 5 s; asking on one at that very moment would fail.
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=2.0)
        super().__init__(verify=trusted_roots(), limits=limits, trust_env=False)
        self._limit_s = limit_s
        self._most_bytes = most_bytes
        self._sockets: list[socket.socket] = []
        self._broken_off = False

    def break_off(self) -> None:
        """From another thread: end every answer that is awaited with a read error, and give no more of them."""
        self._broken_off = True
        for connected in self._sockets.copy():
            with suppress(OSError):
                socket.socket.shutdown(connected, socket.SHUT_RDWR)  # TLS's own takes its state from a reader

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if self._broken_off:
            raise httpx2.ReadError("the request was broken off")
        request.extensions = {**request.extensions, "trace": self._note}
        deadline = time.monotonic() + self._limit_s
        response = super().handle_request(request)
        if not isinstance(response.stream, httpx2.SyncByteStream):
            raise TypeError("a synchronous transport answers with a synchronous stream")
        response.stream = LimitedStream(response.stream, deadline, self._most_bytes)
        return response

    def _note(self, event: str, info: dict[str, Any]) -> None:
        """Remember the sockets of new connections."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._sockets = [known for known in self._sockets if known.fileno() >= 0]
            self._sockets.append(info["return_value"].get_extra_info("socket"))
            if self._broken_off:
                self.break_off()


class LimitedStream(httpx2.SyncByteStream):
    """Raises ReadTimeout after `deadline` of time.monotonic(), and ReadError after `most_bytes`."""

    def __init__(self, inner: httpx2.SyncByteStream, deadline: float, most_bytes: int) -> None:
        self._inner = inner
        self._deadline = deadline
        self._left_bytes = most_bytes

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._inner:
            self._left_bytes -= len(chunk)
            if self._left_bytes < 0:
                raise httpx2.ReadError("the answer is far longer than any answer should be")
            if time.monotonic() > self._deadline:
                raise httpx2.ReadTimeout("the answer took longer than its time limit")
            yield chunk

    def close(self) -> None:
        self._inner.close()
