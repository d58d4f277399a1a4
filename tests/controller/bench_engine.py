"""A tiny engine on loopback for the benchmark's own tests: adds up the numbers it is asked about.

Whether that is right depends on the question, as with a real model. Streams unless told otherwise.
"""

import json
import re
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "tiny-model.Q4_K_M.gguf"


@dataclass
class FakeEngine:
    """What a test may change while it runs, and what was asked."""

    url: str = ""
    delay_s: float = 0.0
    reports_usage: bool = True
    is_ollama: bool = False  # then it loads and unloads its model on request
    loading: list[dict] = field(default_factory=list)
    fails_from: int | None = None  # the number of the question from which on every request fails
    asked: list[dict] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    @property
    def questions(self):
        """The questions measured, without those of the warm-up, which ask for fewer tokens."""
        return [body["messages"][-1]["content"] for body in self.asked if body["max_tokens"] != 32]


@contextmanager
def fake_engine():
    fake, lock = FakeEngine(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        wbufsize = -1  # head and body in one packet
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            pages = {"/v1/models": {"data": [{"id": MODEL, "object": "model"}]}}
            if fake.is_ollama:
                pages |= {"/api/version": {"version": "0.12.0"}, "/api/tags": {"models": [{"name": MODEL}]}}
            self._json(200 if self.path in pages else 404, pages.get(self.path, {}))

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/api/generate" and fake.is_ollama:
                fake.loading.append(body)
                return self._json(200, {"done": True})
            if self.path != "/v1/chat/completions":
                return self._json(404, {"error": "no such page"})
            with lock:
                fake.asked.append(body)
                number = len(fake.asked)
                fake.in_flight += 1
                fake.most_in_flight = max(fake.most_in_flight, fake.in_flight)
            try:
                time.sleep(fake.delay_s)
                if fake.fails_from is not None and number >= fake.fails_from:
                    return self._json(500, {"error": {"message": "out of memory"}})
                return self._stream(body)
            finally:
                with lock:
                    fake.in_flight -= 1

        def _stream(self, body):
            numbers = map(int, re.findall(r"\d+", body["messages"][-1]["content"]))
            words = f"The answer is {sum(numbers)}".split(" ")
            chunks = [{"choices": [{"index": 0, "delta": {"content": f"{word} "}}]} for word in words]
            chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]
            if fake.reports_usage:
                chunks += [{"choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": 1 + len(words)}}]
            sent = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
            self._send(200, "text/event-stream", sent.encode())

        def _json(self, status, value):
            self._send(status, "application/json", json.dumps(value).encode())

        def _send(self, status, kind, content):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args):
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request, client_address):
            """A client that was killed is no error of the engine's."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
