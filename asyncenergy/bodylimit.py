"""Bodies over the limit get 413 before Django reads them, and the connection is closed.

What is too large is not kept, but for a moment it is still taken off the wire and dropped: a client that is cut off
in the middle of its sending often loses the answer with the connection.
"""

import asyncio
import contextlib
import json
import re
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from io import BytesIO
from typing import Any, BinaryIO, cast

LARGE_BYTES = 16 * 2**20
SMALL_BYTES = 2**20
LARGE_PATHS = re.compile(r"^/api/v1/(bench/submissions|runs/[^/]+/samples)$")
DRAIN_BYTES = 64 * 2**20
DRAIN_S = 5.0
CHUNK_BYTES = 64 * 2**10

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]
WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def body_limit_bytes(path: str) -> int:
    return LARGE_BYTES if LARGE_PATHS.match(path) else SMALL_BYTES


def _length(header: str) -> int:
    return int(header) if header.isascii() and header.isdigit() else 0


def _too_large(path: str) -> bytes:
    limit_mib = body_limit_bytes(path) // 2**20
    detail = f"The body is larger than the {limit_mib} MiB that {path} takes. Send it in smaller parts."
    return json.dumps({"detail": detail, "code": "body_too_large", "errors": []}).encode()


class AsgiBodyLimit:
    """Wraps an ASGI application."""

    def __init__(self, app: AsgiApp) -> None:
        self.app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        headers = dict(scope["headers"])
        limit = body_limit_bytes(scope["path"])
        if b"transfer-encoding" not in headers:
            if _length(headers.get(b"content-length", b"").decode("latin-1")) > limit:
                return await _refuse(scope["path"], receive, send)
            return await self.app(scope, receive, send)
        body = await _read_up_to(limit, receive)
        if body is None:
            return await _refuse(scope["path"], receive, send)
        return await self.app(scope, _replay(body, receive), send)


async def _read_up_to(limit: int, receive: Receive) -> bytes | None:
    """Return the body of a request that does not tell its length, None where it is larger than `limit`."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > limit:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


async def _refuse(path: str, receive: Receive, send: Send) -> None:
    answer = _too_large(path)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(answer)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": answer, "more_body": True})
    await _drain(receive)
    await send({"type": "http.response.body", "body": b""})


async def _drain(receive: Receive) -> None:
    taken = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_S):
            while taken < DRAIN_BYTES:
                message = await receive()
                taken += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


class WsgiBodyLimit:
    """Wraps a WSGI application."""

    def __init__(self, app: WsgiApp) -> None:
        self.app = app

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path, stream = environ.get("PATH_INFO", ""), cast(BinaryIO, environ["wsgi.input"])
        limit = body_limit_bytes(path)
        if environ.get("HTTP_TRANSFER_ENCODING"):
            if not environ.get("wsgi.input_terminated"):
                return _answer(start_response, "411 Length Required", _LENGTH_REQUIRED)
            body = stream.read(limit + 1)
            if len(body) <= limit:
                environ |= {"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}
                return self.app(environ, start_response)
        elif _length(environ.get("CONTENT_LENGTH", "")) <= limit:
            return self.app(environ, start_response)
        _drain_stream(stream)
        return _answer(start_response, "413 Content Too Large", _too_large(path))


_LENGTH_REQUIRED = json.dumps(
    {
        "detail": "This server takes no chunked body. Send the body with a Content-Length header.",
        "code": "length_required",
        "errors": [],
    }
).encode()


def _drain_stream(stream: BinaryIO) -> None:
    taken, end_s = 0, time.monotonic() + DRAIN_S
    while taken < DRAIN_BYTES and time.monotonic() < end_s:
        part = stream.read(CHUNK_BYTES)
        if not part:
            return
        taken += len(part)


def _answer(start_response: Callable[..., Any], status: str, body: bytes) -> Iterable[bytes]:
    """Answer without a length: WSGI knows no "Connection: close", but then the server has to close."""
    start_response(status, [("Content-Type", "application/json")])
    return iter([body])
