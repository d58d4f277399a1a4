"""One question to Ollama's own API, which knows more settings than the common one."""

import json
from collections.abc import Iterable
from typing import Any, Self

import httpx2

from asyncenergy_controller.adapters.asking import Answer, asked, limit_s
from asyncenergy_controller.adapters.outcome import Outcome
from asyncenergy_controller.adapters.piece import Piece
from asyncenergy_controller.adapters.prompts import messages_of, prompt_of
from asyncenergy_controller.engine.errors import EngineFailed, EngineProtocolError, StreamBroken, refusal, translated
from asyncenergy_controller.engine.shapes import count, mapping, mappings, text
from asyncenergy_controller.engine.transport import TimeLimitedTransport
from asyncenergy_controller.jobs.entry import OllamaRequest

CONNECT_LIMIT_S = 5.0


def run_ollama(request: OllamaRequest, piece: Piece) -> Outcome:
    """Ask and wait for the whole answer. Raises ControllerError for a prompt or an engine that fails."""
    body = _body(request)
    with OllamaClient(request.url, limit_s=limit_s(piece)) as ollama:
        return asked(request, piece, lambda: ollama.ask(body), ollama.break_off)


class OllamaClient:
    """One Ollama; every call ends after `limit_s` seconds, or when it is broken off."""

    def __init__(self, url: str, *, limit_s: float) -> None:
        self.url = url.rstrip("/").removesuffix("/v1")
        self._limit_s = limit_s
        self._transport = TimeLimitedTransport(limit_s=limit_s)
        timeout = httpx2.Timeout(limit_s, connect=min(limit_s, CONNECT_LIMIT_S))
        with translated(self.url, limit_s=limit_s):
            self._http = httpx2.Client(base_url=self.url, timeout=timeout, transport=self._transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def break_off(self) -> None:
        """From another thread: end what is being asked."""
        self._transport.break_off()

    def models(self) -> list[str]:
        """The names of the models that are there. Raises EngineError."""
        with translated(self.url, limit_s=self._limit_s):
            answer = self._http.get("/api/tags")
        if not answer.is_success:
            raise refusal(answer.status_code, answer.text[:500], url=f"{self.url}/api/tags")
        return [text(model.get("name")) for model in mappings(_decoded(answer.content).get("models"))]

    def ask(self, body: dict[str, Any]) -> Answer:
        """Return the whole answer to a prompt or to a conversation. Raises EngineError."""
        page = "/api/chat" if "messages" in body else "/api/generate"
        with (
            translated(self.url, limit_s=self._limit_s),
            self._http.stream("POST", page, json=body) as response,
        ):
            if not response.is_success:
                response.read()
                said = response.text[:500]
                raise refusal(response.status_code, said, url=f"{self.url}{page}", model=body["model"])
            return _joined(response.iter_lines(), self.url)


def _body(request: OllamaRequest) -> dict[str, Any]:
    optional = {"system": request.system, "think": request.think, "keep_alive": request.keep_alive}
    body = {
        "model": request.model,
        "stream": request.stream,
        "options": request.options,
        **{name: value for name, value in optional.items() if value is not None},
    }
    if request.messages is None:
        return body | {"prompt": prompt_of(request)}
    body.pop("system", None)
    return body | {"messages": messages_of(request)}


def _joined(lines: Iterable[str], url: str) -> Answer:
    """Put the pieces of an answer together; one that came whole is one piece."""
    said: list[str] = []
    for line in filter(None, lines):
        piece = _decoded(line)
        if piece.get("error"):
            raise EngineFailed(f"Ollama at {url} failed: {str(piece['error'])[:300]}")
        said.append(text(piece.get("response")) or text(mapping(piece.get("message")).get("content")))
        if piece.get("done") is True:
            return Answer("".join(said), count(piece.get("eval_count")))
    raise StreamBroken(f"The stream from {url} ended before the answer did.")


def _decoded(raw: str | bytes) -> dict[str, Any]:
    try:
        return mapping(json.loads(raw))
    except ValueError as error:
        raise EngineProtocolError(f"Ollama answered what is no JSON: {raw[:200]!s}") from error
