"""A small OpenAI-compatible server around `transformers`, for measuring on a machine that has nothing else.

    python tests/gpu/transformers_server.py --model FOLDER [--gguf FILE] --dtype bfloat16 --port 8123

Requests that wait together are answered as one batch, token by token, each streamed to its own caller. Greedy only.
"""

import argparse
import json
import queue
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import torch
import transformers

GATHER_S = 0.02


@dataclass
class Ask:
    """One question in flight; `out` carries text pieces, then the final summary."""

    prompt_ids: list[int]
    max_tokens: int
    stop: list[str]
    out: "queue.Queue[str | dict[str, Any]]" = field(default_factory=queue.Queue)
    token_ids: list[int] = field(default_factory=list)
    sent: str = ""
    finish_reason: str | None = None


class Batcher:
    """Answers what waits together as one left-padded batch."""

    def __init__(self, model: Any, tokenizer: Any, max_batch: int) -> None:
        self.model, self.tokenizer, self.max_batch = model, tokenizer, max_batch
        self.waiting: queue.Queue[Ask] = queue.Queue()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            batch = [self.waiting.get()]
            until = time.monotonic() + GATHER_S
            while len(batch) < self.max_batch:
                try:
                    batch.append(self.waiting.get(timeout=max(0.0, until - time.monotonic())))
                except queue.Empty:
                    break
            self._answer(batch)

    @torch.inference_mode()
    def _answer(self, batch: list[Ask]) -> None:
        ids, mask = self._padded(batch)
        cache = None
        while any(ask.finish_reason is None for ask in batch):
            positions = (mask.cumsum(-1) - 1).clamp(min=0)[:, -ids.shape[1] :]
            step = self.model(
                input_ids=ids, attention_mask=mask, position_ids=positions, past_key_values=cache, use_cache=True
            )
            cache = step.past_key_values
            ids = step.logits[:, -1].argmax(-1, keepdim=True)
            mask = torch.cat([mask, mask.new_ones(len(batch), 1)], dim=1)
            for ask, token in zip(batch, ids.squeeze(1).tolist(), strict=True):
                self._take(ask, token)

    def _padded(self, batch: list[Ask]) -> tuple[torch.Tensor, torch.Tensor]:
        width = max(len(ask.prompt_ids) for ask in batch)
        pad = self.tokenizer.eos_token_id
        ids = [[pad] * (width - len(ask.prompt_ids)) + ask.prompt_ids for ask in batch]
        mask = [[0] * (width - len(ask.prompt_ids)) + [1] * len(ask.prompt_ids) for ask in batch]
        device = self.model.device
        return torch.tensor(ids, device=device), torch.tensor(mask, device=device)

    def _take(self, ask: Ask, token: int) -> None:
        if ask.finish_reason:
            return
        ask.token_ids.append(token)
        text = self.tokenizer.decode(ask.token_ids, skip_special_tokens=True)
        cut = min((at for word in ask.stop if (at := text.find(word)) >= 0), default=None)
        if token == self.tokenizer.eos_token_id or cut is not None:
            ask.finish_reason = "stop"
        elif len(ask.token_ids) >= ask.max_tokens:
            ask.finish_reason = "length"
        shown = text[:cut]
        if len(shown) > len(ask.sent):
            ask.out.put(shown[len(ask.sent) :])
            ask.sent = shown
        if ask.finish_reason:
            ask.out.put({"finish_reason": ask.finish_reason, "completion_tokens": len(ask.token_ids)})


class Handler(BaseHTTPRequestHandler):
    """`/v1/models` and `/v1/chat/completions`, streamed or whole."""

    batcher: Batcher
    model_name: str
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet: the benchmark prints what matters."""

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            self._json({"object": "list", "data": [{"id": self.model_name, "object": "model", "owned_by": "local"}]})
        elif self.path == "/openapi.json":  # how a client tells this engine from others
            paths = ("/v1/chat/completions", "/v1/responses", "/v1/models", "/health")
            self._json({"info": {"title": "FastAPI"}, "paths": {path: {} for path in paths}})
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        ask = self._ask(body)
        self.batcher.waiting.put(ask)
        if body.get("stream"):
            self._stream(ask)
        else:
            pieces = list(self._pieces(ask))
            text = "".join(p for p in pieces if isinstance(p, str))
            self._json(self._chunk(ask, {"message": {"role": "assistant", "content": text}}, pieces[-1]))

    def _ask(self, body: dict[str, Any]) -> Ask:
        ids = self.batcher.tokenizer.apply_chat_template(
            body["messages"], add_generation_prompt=True, tokenize=True, return_dict=True
        )["input_ids"]
        stop = body.get("stop") or []
        return Ask(list(ids), int(body.get("max_tokens") or 64), [stop] if isinstance(stop, str) else stop)

    def _pieces(self, ask: Ask) -> Iterator[str | dict[str, Any]]:
        while True:
            piece = ask.out.get(timeout=600)
            yield piece
            if isinstance(piece, dict):
                return

    def _stream(self, ask: Ask) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for piece in self._pieces(ask):
            delta = {"content": piece} if isinstance(piece, str) else {}
            self._event(self._chunk(ask, {"delta": delta}, piece))
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _chunk(self, ask: Ask, choice: dict[str, Any], piece: str | dict[str, Any]) -> dict[str, Any]:
        chunk: dict[str, Any] = {"object": "chat.completion", "model": self.model_name}
        chunk["choices"] = [{"index": 0, "finish_reason": ask.finish_reason, **choice}]
        if isinstance(piece, dict):
            chunk["usage"] = {
                "prompt_tokens": len(ask.prompt_ids),
                "completion_tokens": piece["completion_tokens"],
                "total_tokens": len(ask.prompt_ids) + piece["completion_tokens"],
            }
        else:
            chunk["choices"][0]["finish_reason"] = None
        return chunk

    def _event(self, body: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps(body).encode() + b"\n\n")
        self.wfile.flush()

    def _json(self, body: dict[str, Any]) -> None:
        raw = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


class Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="folder of the model")
    parser.add_argument("--gguf", help="GGUF file in that folder")
    parser.add_argument("--name", default="SmolLM2-135M-Instruct")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--max-batch", type=int, default=64)
    options = parser.parse_args()
    source = {"gguf_file": options.gguf} if options.gguf else {}
    tokenizer = transformers.AutoTokenizer.from_pretrained(options.model, **source)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        options.model, dtype=getattr(torch, options.dtype), **source
    )
    Handler.batcher = Batcher(
        model.to("cuda" if torch.cuda.is_available() else "cpu").eval(), tokenizer, options.max_batch
    )
    Handler.model_name = options.name
    server = Server(("127.0.0.1", options.port), Handler)
    print(json.dumps({"url": f"http://127.0.0.1:{options.port}", "dtype": options.dtype}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
