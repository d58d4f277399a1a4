"""A small Async Energy server on loopback that takes reports as the wire contract says, with faults to order."""

import json
import threading
import time
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from asyncenergy_controller.settings import load_settings

from tests.controller.fake_engine import on_loopback, send_json


def slow(seconds):
    return ("slow", seconds)


LOST_ANSWER = ("lost", None)
"""The server does what is asked, and its answer never arrives."""


@dataclass
class ReportServer:
    url: str = ""
    runs: dict = field(default_factory=dict)
    ids: dict = field(default_factory=dict)
    samples: dict = field(default_factory=dict)
    acks: list = field(default_factory=list)
    calls: list = field(default_factory=list)
    faults: list = field(default_factory=list)
    """What the next calls meet: (status, body), `slow(s)`, LOST_ANSWER, or None for nothing."""
    always: object = None
    """A fault of every call."""
    refuses: set = field(default_factory=set)
    """run_ids that are no good."""
    breaks_on: set = field(default_factory=set)
    """run_ids over which it stumbles."""
    headers: list = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, path, body):
        if path.endswith("/samples"):
            return self.take_samples(path.split("/")[-2], body["samples"])
        return {"/api/v1/runs": self.take_runs, "/api/v1/schedule/ack": self.take_ack}[path](body)

    def take_runs(self, records):
        names = {record["run_id"] for record in records}
        if names & self.breaks_on:
            return 500, b"<html>boom</html>"
        if names & self.refuses:
            return 400, {"detail": "No good.", "code": "invalid", "errors": []}
        return 200, {"runs": [self.take_run(record) for record in records]}

    def take_run(self, record):
        name = record["run_id"]
        is_new = name not in self.runs
        self.runs.setdefault(name, record)
        self.ids.setdefault(name, str(uuid.uuid4()))
        return {"run_id": name, "id": self.ids[name], "status": "inserted" if is_new else "duplicate"}

    def take_samples(self, server_id, samples):
        if server_id not in self.ids.values():
            return 404, {"detail": "You have no such run.", "code": "not_found", "errors": []}
        kept = self.samples.setdefault(server_id, {})
        new = [sample for sample in samples if sample["ts"] not in kept]
        kept |= {sample["ts"]: sample for sample in new}
        return 201, {"accepted": len(new)}

    def take_ack(self, ack):
        if ack not in self.acks:
            self.acks.append(ack)
        return 200, {"status": "ok"}

    def samples_of(self, name):
        return list(self.samples.get(self.ids.get(name), {}).values())


@contextmanager
def report_server(fake=None):
    fake = fake or ReportServer()

    class Handler(BaseHTTPRequestHandler):
        wbufsize = -1

        def do_POST(self):
            length = int(self.headers.get("Content-Length", 0))
            raw = self.rfile.read(length)
            if len(raw) < length:  # its sender was killed
                self.close_connection = True
                return
            body = json.loads(raw or b"null")
            with fake.lock:
                fake.calls.append(self.path)
                fake.headers.append(dict(self.headers))
                fault = fake.always or (fake.faults.pop(0) if fake.faults else None)
                if fault and fault[0] == "slow":
                    time.sleep(fault[1])
                    fault = None
                status, answer = fault if fault and fault[0] != "lost" else fake.answer(self.path, body)
            if fault is LOST_ANSWER:
                self.close_connection = True
                return
            send_json(self, status, answer)

        do_GET = do_POST

        def log_message(self, *args):
            pass

    with on_loopback(Handler) as fake.url:
        yield fake


def settings_for(server, tmp_path, **values):
    given = {"api_key": "ae_key", "server_timeout_s": 5.0, "controller_id": "box", **values}
    folders = {name: tmp_path / name for name in ("config_dir", "data_dir", "state_dir")}
    return load_settings(api_url=getattr(server, "url", server), **folders, **given)
