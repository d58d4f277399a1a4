"""A small server on loopback with a schedule and workflows, which takes reports as well."""

from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from tests.controller.report_server import ReportServer, report_server

UNAUTHORISED = (401, {"detail": "This key is not valid.", "code": "not_authenticated"})


@dataclass
class LoopServer(ReportServer):
    body: dict | None = None
    """The newest schedule."""
    workflows: list = field(default_factory=list)
    polls: list = field(default_factory=list)
    """The `after` of each question for the schedule."""
    on_poll: list = field(default_factory=list)
    """What happens at the next polls, before they are answered."""
    boxes: set = field(default_factory=set)

    def answer(self, path, body):
        parts = urlsplit(path)
        if parts.path == "/api/v1/schedule":
            return self.schedule(int(parse_qs(parts.query)["after"][0]))
        if parts.path == "/api/v1/workflows":
            return 200, {"results": self.workflows, "next": None}
        return super().answer(path, body)

    def schedule(self, after):
        self.polls.append(after)
        self.boxes.add(self.headers[-1].get("X-Controller-Id"))
        if self.on_poll:
            self.on_poll.pop(0)()
        return (204, b"") if self.body is None or self.body["version"] <= after else (200, self.body)

    def publish(self, body):
        self.body = body


@contextmanager
def loop_server():
    with report_server(LoopServer()) as server:
        yield server
