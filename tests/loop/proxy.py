"""A proxy between controller and server that drops, delays and repeats, at the level where networks do it: bytes."""

import random
import socket
import socketserver
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

BUFFER = 1 << 16
TIME_LIMIT_S = 15.0


@dataclass(frozen=True)
class Weather:
    """How likely each mishap is for one call."""

    drop_request: float = 0.0
    """The call never reaches the server."""
    drop_answer: float = 0.0
    """The server does what was asked, and its answer is lost."""
    repeat: float = 0.0
    """The server is asked twice, and the second answer is what arrives."""
    delay: float = 0.0
    delay_s: float = 0.5


CLEAR = Weather()
STORM = Weather(drop_request=0.12, drop_answer=0.12, repeat=0.12, delay=0.15)


@dataclass
class Proxy:
    """Listens on a port of its own; `weather` may change at any time."""

    target: int
    seed: int = 0
    weather: Weather = CLEAR
    counts: Counter = field(default_factory=Counter)

    def __post_init__(self):
        self._random = random.Random(self.seed)
        self._lock = threading.Lock()
        self._server = _Listener(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(proxy):
        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                self.request.settimeout(TIME_LIMIT_S)
                try:
                    proxy._serve(self.request)
                except OSError:
                    proxy._count("broken")

        return Handler

    def _serve(self, client):
        """One call a connection: each answer says that it is the last."""
        call = _read_message(client)
        if not call:
            return
        fate = self._fate()
        self._count(fate or "passed")
        if fate == "drop_request":
            return
        if fate == "delay":
            time.sleep(self.weather.delay_s)
        answer = self._ask(call)
        if fate == "repeat":
            answer = self._ask(call)
        if fate != "drop_answer":
            client.sendall(answer)

    def _ask(self, call):
        """Nothing where the server is away: the client then sees a closed connection."""
        try:
            with socket.create_connection(("127.0.0.1", self.target), TIME_LIMIT_S) as server:
                server.sendall(call)
                return _read_message(server)
        except OSError:
            self._count("server away")
            return b""

    def _fate(self):
        with self._lock:
            left = self._random.random()
        for name in ("drop_request", "drop_answer", "repeat", "delay"):
            left -= getattr(self.weather, name)
            if left < 0:
                return name
        return None

    def _count(self, what):
        with self._lock:
            self.counts[what] += 1


class _Listener(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64


def _read_message(source):
    """One HTTP message with the length its head tells, and a head that ends the connection after it."""
    head = b""
    while b"\r\n\r\n" not in head:
        part = source.recv(BUFFER)
        if not part:
            return b""
        head += part
    head, _, body = head.partition(b"\r\n\r\n")
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
    length = next((int(line[15:]) for line in lines if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length:
        part = source.recv(BUFFER)
        if not part:
            return b""
        body += part
    return b"\r\n".join([*lines, b"Connection: close", b"", body])
