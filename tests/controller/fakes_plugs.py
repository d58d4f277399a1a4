"""A fake plug: an HTTP server on loopback that answers what a test recorded."""

import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


@dataclass
class Answer:
    body: str = "{}"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    wait_s: float = 0
    trickle_s: float = 0
    """Seconds between two bytes of the body."""


class FakePlug:
    """Gives `answer` to every question and keeps what was asked."""

    def __init__(self):
        self.answer = Answer()
        self.asked: list[tuple[str, dict[str, list[str]], dict[str, str]]] = []
        plug = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                url = urlsplit(self.path)
                plug.asked.append((url.path, parse_qs(url.query), dict(self.headers)))
                answer = plug.answer(self) if callable(plug.answer) else plug.answer
                time.sleep(answer.wait_s)
                self.send_response_only(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self._say(answer)

            def _say(self, answer):
                try:
                    for byte in answer.body.encode() if answer.trickle_s else ():
                        self.wfile.write(bytes([byte]))
                        self.wfile.flush()
                        time.sleep(answer.trickle_s)
                    self.wfile.write(b"" if answer.trickle_s else answer.body.encode())
                except OSError:
                    pass

            def log_message(self, *args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.address = f"127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
