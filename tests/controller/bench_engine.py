"""An engine for whole benchmarks: adds up the numbers it is asked about, which is right for some questions only."""

import re
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.controller.fake_engine import fake_engine as engine_on_loopback
from tests.controller.fake_engine import send_json, streamed

MODEL = "tiny-model.Q4_K_M.gguf"
WARMUP_TOKENS = 32
PLAIN = {"/v1/models": {"data": [{"id": MODEL, "object": "model"}]}}
OLLAMA = PLAIN | {"/api/version": {"version": "0.12.0"}, "/api/tags": {"models": [{"name": MODEL}]}}


@dataclass
class BenchEngine:
    """What a test may change while it runs, and what was asked. It is the fake engine's `answer`."""

    url: str = ""
    delay_s: float = 0.0
    reports_usage: bool = True
    fails_from: int | None = None  # the number of the question from which on every request fails
    fails_on: str | None = None  # part of the questions that fail
    asked: list[dict] = field(default_factory=list)
    loading: list[dict] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def questions(self):
        """The questions measured, without those of the warm-up, which ask for fewer tokens."""
        return [body["messages"][-1]["content"] for body in self.asked if body["max_tokens"] != WARMUP_TOKENS]

    def __call__(self, handler, body):
        if handler.path == "/api/generate":
            self.loading.append(body)
            return send_json(handler, 200, {"done": True})
        with self.lock:
            self.asked.append(body)
            number = len(self.asked)
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        time.sleep(self.delay_s)
        with self.lock:
            self.in_flight -= 1
        question = body["messages"][-1]["content"]
        too_late = self.fails_from is not None and number >= self.fails_from
        if too_late or (self.fails_on and self.fails_on in question):
            return send_json(handler, 500, {"error": {"message": "out of memory"}})
        return self._sum(handler, body)

    def _sum(self, handler, body):
        numbers = map(int, re.findall(r"\d+", body["messages"][-1]["content"]))
        words = [f"{word} " for word in f"The answer is {sum(numbers)}".split(" ")]
        usage = {"prompt_tokens": 50, "completion_tokens": 1 + len(words)}
        streamed(*words, usage=usage if self.reports_usage else None)(handler, body)


@contextmanager
def bench_engine(pages=PLAIN):
    engine = BenchEngine()
    with engine_on_loopback(engine, pages) as fake:
        engine.url = fake.url
        yield engine
