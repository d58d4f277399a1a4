"""A tiny Async Energy server on loopback: answers what a test tells it to, and remembers what it was asked."""

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.controller.fake_engine import on_loopback, send_json

ACCEPTED = {"id": "11111111-2222-3333-4444-555555555555", "status": "accepted", "flags": [], "url": "/x", "runs": []}


@dataclass
class Asked:
    method: str
    path: str
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


@dataclass
class FakeServer:
    """`answers` maps a path to what is answered next: a list is used up, its last entry stays."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    answers: dict[str, list[tuple[int, object]]] = field(default_factory=dict)

    def will(self, path, *answers):
        self.answers[path] = list(answers)

    def at(self, path):
        return [call for call in self.asked if call.path == path]

    def answer(self, path):
        planned = self.answers.get(path, [(404, {"detail": f"nothing at {path}", "code": "not_found"})])
        return planned.pop(0) if len(planned) > 1 else planned[0]


@contextmanager
def fake_server():
    fake = FakeServer()

    class Handler(BaseHTTPRequestHandler):
        wbufsize = -1  # head and body in one packet

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            fake.asked.append(Asked(self.command, self.path, dict(self.headers), body))
            status, answer = fake.answer(self.path)
            send_json(self, status, answer)

        do_GET = do_POST

        def log_message(self, *args):
            pass

    with on_loopback(Handler) as fake.url:
        yield fake
