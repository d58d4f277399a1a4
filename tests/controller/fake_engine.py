"""A loopback HTTP server that answers like an engine, well or badly, as a test tells it to."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"prompt_tokens": 11, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 0}}
LLAMA_CPP = {
    "/props": {
        "default_generation_settings": {"n_ctx": 4096},
        "total_slots": 4,
        "model_path": "/srv/models/Tiny-1B-Instruct-Q4_K_M.gguf",
        "build_info": "b6000-1a2b3c4",
    },
    "/v1/models": {"data": [{"id": "/srv/models/Tiny-1B-Instruct-Q4_K_M.gguf", "owned_by": "llamacpp"}]},
}
OLLAMA = {
    "/api/version": {"version": "0.12.3"},
    "/api/tags": {
        "models": [{"name": "qwen3.5:9b-q4_K_M", "digest": "ab" * 32, "details": {"quantization_level": "Q4_K_M"}}]
    },
    "/api/ps": {"models": [{"name": "qwen3.5:9b-q4_K_M", "context_length": 8192}]},
    "/v1/models": {"data": [{"id": "qwen3.5:9b-q4_K_M", "owned_by": "library"}]},
}
VLLM = {
    "/version": {"version": "0.11.0"},
    "/v1/models": {
        "data": [
            {"id": "small", "owned_by": "vllm", "root": "HuggingFaceTB/SmolLM2-135M-Instruct", "max_model_len": 2048}
        ]
    },
}
SGLANG = {
    "/get_server_info": {"version": "0.5.3", "disable_radix_cache": False},
    "/openapi.json": {
        "info": {"title": "FastAPI"},
        "paths": dict.fromkeys(("/v1/chat/completions", "/v1/responses", "/v1/models", "/health", "/generate"), {}),
    },
    "/v1/models": {
        "data": [{"id": "small", "owned_by": "sglang", "root": "Qwen/Qwen3-8B", "max_model_len": 4096}],
    },
}
LM_STUDIO = {
    "/api/v0/models": {"data": [{"id": "tiny-1b", "quantization": "4bit", "loaded_context_length": 4096}]},
    "/v1/models": {"data": [{"id": "tiny-1b"}]},
}
TRANSFORMERS = {
    "/openapi.json": {
        "info": {"title": "FastAPI"},
        "paths": dict.fromkeys(("/v1/chat/completions", "/v1/responses", "/v1/models", "/health"), {}),
    },
    "/v1/models": {"data": [{"id": "HuggingFaceTB/SmolLM2-135M-Instruct", "owned_by": "HuggingFaceTB"}]},
}

Answer = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


@dataclass
class FakeEngine:
    """What a test sets, and what it was asked."""

    url: str
    pages: dict[str, Any]
    answer: Answer
    asked: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def fake_engine(answer: Answer | None = None, pages: dict[str, Any] = LLAMA_CPP) -> Iterator[FakeEngine]:
    """Serve `pages` (path -> JSON or a status; all others are 404) and give every chat request to `answer`."""
    fake = FakeEngine("", pages, answer or whole("ok"))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self):
            page = fake.pages.get(self.path, 404)
            send_json(self, *((page, {"error": "no"}) if isinstance(page, int) else (200, page)))

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fake.asked.append(body)
            fake.answer(self, body)

        def log_message(self, *_):
            """Tests are quiet."""

    with on_loopback(Handler) as fake.url:
        yield fake


@contextmanager
def on_loopback(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve on a free port; yields the address."""
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # many clients may knock at the same moment

    def handle_error(self, *_):
        """Clients that leave in the middle are what some tests are about."""


def send_json(handler: BaseHTTPRequestHandler, status: int, value: Any) -> None:
    """Bytes go as they are."""
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


def streamed(
    *pieces: str,
    gap_s: float = 0.0,
    usage: dict[str, Any] | None = USAGE,
    finish: str | None = "stop",
    done: bool = True,
    delta: str = "content",
) -> Answer:
    """One event per piece with `gap_s` before each, then the finish reason, usage and [DONE] unless withheld."""

    def answer(handler, body):
        events = [{"choices": [{"delta": {"role": "assistant", "content": None}, "finish_reason": None}]}]
        events += [{"choices": [{"delta": {delta: piece}, "finish_reason": None}]} for piece in pieces]
        start_stream(handler)
        for event in events:
            if event is not events[0]:
                time.sleep(gap_s)
            send_event(handler, event)
        if finish:
            send_event(handler, {"choices": [{"delta": {}, "finish_reason": finish}]})
        if usage:
            send_event(handler, {"choices": [], "usage": usage})
        if done:
            handler.wfile.write(b"data: [DONE]\n\n")

    return answer


def start_stream(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.close_connection = True


def send_event(handler: BaseHTTPRequestHandler, event: dict[str, Any]) -> None:
    handler.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
    handler.wfile.flush()


def whole(text: str, *, usage: dict[str, Any] | None = USAGE, finish: str | None = "stop") -> Answer:
    """The answer in one JSON document, whatever was asked for."""
    reply = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish}]}
    return lambda handler, body: send_json(handler, 200, reply | ({"usage": usage} if usage else {}))


def refusing(status: int, message: str) -> Answer:
    """An error in the shape that OpenAI-compatible servers use."""
    return lambda handler, body: send_json(handler, status, {"error": {"message": message}})


def hanging(seconds: float) -> Answer:
    """Accept the question and say nothing."""
    return lambda handler, body: time.sleep(seconds)
