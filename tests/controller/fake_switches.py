"""Plugs that can be switched, on loopback: each speaks as its kind does, keeps its state and counts energy."""

import json
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

from tests.controller.fake_engine import on_loopback


@dataclass
class FakeSwitch:
    """`watts` flow while it is on. A test may make it deaf (500), stuck, or break its counter."""

    address: str = ""
    watts: float = 3600.0
    counter_wh: float | None = 1000.0
    deaf: bool = False
    deaf_after: int | None = None
    stuck: bool = False
    asked: list[tuple[str, dict]] = field(default_factory=list)
    now_s: Callable[[], float] = time.monotonic
    lock: threading.Lock = field(default_factory=threading.Lock)
    _on_since: float | None = None

    @property
    def is_on(self):
        return self._on_since is not None

    def set(self, on):
        if self.stuck:
            return
        self.settle()
        self._on_since = self.now_s() if on else None

    def settle(self):
        """Count what has flown; return the counter."""
        now = self.now_s()
        if self._on_since is not None and self.counter_wh is not None:
            self.counter_wh += self.watts * (now - self._on_since) / 3600
            self._on_since = now
        return self.counter_wh

    def turned(self):
        """What was switched, in order: on and off."""
        return [query["on"][0] == "true" for path, query in self.asked if path == "/rpc/Switch.Set"]

    def is_held(self):
        """Whether it was looked at again after it had said that it is on."""
        paths = [path for path, _ in self.asked]
        return "/rpc/Switch.Set" in paths and len(paths) - paths.index("/rpc/Switch.Set") > 2


def shelly(fake, path, query, body):
    if path == "/rpc/Switch.Set":
        was = fake.is_on
        fake.set(query["on"] == ["true"])
        return {"was_on": was}
    return {"id": 0, "output": fake.is_on, "apower": fake.watts * fake.is_on, "aenergy": {"total": fake.settle()}}


def tasmota(fake, path, query, body):
    words = query["cmnd"][0].split()
    if words[0] == "Status":
        return {"StatusSNS": {"ENERGY": {"Total": (fake.settle() or 0) / 1000, "Power": fake.watts}}}
    if len(words) == 2:
        fake.set(words[1] == "On")
    return {"POWER": "ON" if fake.is_on else "OFF"}


def home_assistant(fake, path, query, body):
    if path.startswith("/api/services/homeassistant/"):
        fake.set(path.endswith("turn_on"))
        return [{"entity_id": body["entity_id"], "state": "on"}]
    if path == "/api/states/switch.robot":
        return {"entity_id": "switch.robot", "state": "on" if fake.is_on else "off"}
    unit = {"unit_of_measurement": "kWh", "device_class": "energy"}
    counted = "unavailable" if fake.counter_wh is None else f"{fake.settle() / 1000:.6f}"
    return {"entity_id": "sensor.robot_energy", "state": counted, "attributes": unit}


@contextmanager
def fake_switch(kind=shelly):
    fake = FakeSwitch()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            url = urlsplit(self.path)
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "null")
            with fake.lock:
                query = parse_qs(url.query)
                fake.asked.append((url.path, query))
                deaf = fake.deaf or (fake.deaf_after is not None and len(fake.asked) > fake.deaf_after)
                answer = None if deaf else json.dumps(kind(fake, url.path, query, body)).encode()
            self.send_response(500 if answer is None else 200)
            self.end_headers()
            self.wfile.write(answer or b"")

        do_POST = do_GET

        def log_message(self, *_):
            pass

    with on_loopback(Handler) as url:
        fake.address = url.removeprefix("http://")
        yield fake
