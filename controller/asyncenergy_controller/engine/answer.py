"""Reading one answer, streamed or whole, into text, counts and arrival times."""

import json
from abc import ABC, abstractmethod
from typing import Any

import httpx2

from asyncenergy_controller import clock
from asyncenergy_controller.engine.errors import EngineFailed, EngineProtocolError, StreamBroken
from asyncenergy_controller.engine.shapes import count, mapping, mappings, text
from asyncenergy_controller.engine.types import ChatResult, FinishReason

_FINISHED: dict[str, FinishReason] = {"stop": "stop", "length": "length", "tool_calls": "stop"}


class AnswerReader(ABC):
    """What both ways of answering leave behind."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.text = ""
        self.finish: str | None = None
        self.usage: dict[str, Any] = {}
        self.token_times_s: list[float] = []
        self.t_end_s = 0.0

    @abstractmethod
    def read(self, response: httpx2.Response) -> None:
        """Consume the response to its end."""

    def result(self, shown: str, t_start_s: float, *, max_tokens: int) -> ChatResult:
        """The answer as a value; counts the server did not send stay None."""
        completion_tokens = count(self.usage.get("completion_tokens"))
        return ChatResult(
            text=shown,
            finish_reason=self._finish_reason(completion_tokens, max_tokens),
            prompt_tokens=count(self.usage.get("prompt_tokens")),
            cached_prompt_tokens=count(mapping(self.usage.get("prompt_tokens_details")).get("cached_tokens")),
            completion_tokens=completion_tokens,
            t_start_s=t_start_s,
            t_first_token_s=self.token_times_s[0] if self.token_times_s else None,
            t_end_s=self.t_end_s,
            token_times_s=tuple(self.token_times_s),
            streamed=isinstance(self, StreamedAnswer),
        )

    def _finish_reason(self, completion_tokens: int | None, max_tokens: int) -> FinishReason:
        if self.finish is None:
            return "length" if completion_tokens is not None and completion_tokens >= max_tokens else "stop"
        return _FINISHED.get(self.finish, "error")


class StreamedAnswer(AnswerReader):
    """Server-sent events; each piece of text is stamped on arrival."""

    def read(self, response: httpx2.Response) -> None:
        done = False
        for event in httpx2.EventSource(response):
            arrived_s = clock.monotonic()
            if not event.data.strip():  # sent to keep the connection open
                continue
            if event.data.strip() == "[DONE]":
                done = True
                break
            self._take(_decoded(event.data, self.url), arrived_s)
        self.t_end_s = clock.monotonic()
        if self.finish is None and not (done and self.token_times_s):
            raise StreamBroken(f"The stream from {self.url} ended before the answer did.")

    def _take(self, chunk: dict[str, Any], arrived_s: float) -> None:
        if chunk.get("error") or chunk.get("object") == "error":
            said = chunk.get("error") or chunk.get("message")
            raise EngineFailed(f"The engine at {self.url} failed half way: {str(said)[:300]}")
        self.usage = mapping(chunk.get("usage")) or self.usage
        choice = next(iter(mappings(chunk.get("choices"))), {})
        delta = mapping(choice.get("delta"))
        self.finish = text(choice.get("finish_reason")) or self.finish
        if any(delta.get(key) for key in ("content", "reasoning_content", "reasoning")):
            self.token_times_s.append(arrived_s)
        self.text += text(delta.get("content"))


class CompleteAnswer(AnswerReader):
    """The whole answer in one JSON document: no time of a first token exists."""

    def read(self, response: httpx2.Response) -> None:
        raw = response.read()
        self.t_end_s = clock.monotonic()
        reply = _decoded(raw, self.url)
        choices = mappings(reply.get("choices"))
        if not choices:
            raise EngineProtocolError(f"The answer from {self.url} holds no choices: {str(reply)[:300]}")
        self.text = text(mapping(choices[0].get("message")).get("content"))
        self.finish = text(choices[0].get("finish_reason")) or None
        self.usage = mapping(reply.get("usage"))


def cut_at_stop(whole: str, stop: tuple[str, ...]) -> str:
    """What a server that knows no stop sequences should have left out."""
    ends = [at for sequence in stop if (at := whole.find(sequence)) >= 0]
    return whole[: min(ends)] if ends else whole


def _decoded(raw: str | bytes, url: str) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except ValueError as error:
        raise EngineProtocolError(f"The answer from {url} is not JSON: {raw[:200]!s}") from error
    if not isinstance(value, dict):
        raise EngineProtocolError(f"The answer from {url} is not a JSON object: {str(value)[:200]}")
    return value
