"""A time limit on the whole answer: read timeouts alone let a server trickle for ever."""

import ssl
import time
from collections.abc import Iterator
from functools import cache

import httpx2


class TimeLimitedTransport(httpx2.HTTPTransport):
    """Ends an answer that is still coming `limit_s` seconds after it was asked for."""

    def __init__(self, *, limit_s: float) -> None:
        # Servers drop idle connections after 5 s; asking on one at that very moment would fail.
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=2.0)
        super().__init__(verify=_trusted_roots(), limits=limits, trust_env=False)
        self._limit_s = limit_s

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        deadline = time.monotonic() + self._limit_s
        response = super().handle_request(request)
        if not isinstance(response.stream, httpx2.SyncByteStream):
            raise TypeError("a synchronous transport answers with a synchronous stream")
        response.stream = _LimitedStream(response.stream, deadline)
        return response


class _LimitedStream(httpx2.SyncByteStream):
    def __init__(self, inner: httpx2.SyncByteStream, deadline: float) -> None:
        self._inner = inner
        self._deadline = deadline

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._inner:
            if time.monotonic() > self._deadline:
                raise httpx2.ReadTimeout("the answer took longer than its time limit")
            yield chunk

    def close(self) -> None:
        self._inner.close()


@cache
def _trusted_roots() -> ssl.SSLContext:
    """Read once: it costs more than everything else about a client."""
    return httpx2.create_ssl_context()
