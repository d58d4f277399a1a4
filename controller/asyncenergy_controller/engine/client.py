"""Client of any OpenAI-compatible chat server. Times are stamped the moment bytes arrive."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

import httpx2

from asyncenergy_controller import clock
from asyncenergy_controller.engine.answer import AnswerReader, CompleteAnswer, StreamedAnswer, cut_at_stop
from asyncenergy_controller.engine.errors import (
    EngineError,
    EngineNotFound,
    EngineProtocolError,
    EngineRefused,
    EngineUnreachable,
    StreamBroken,
    refusal,
    translated,
)
from asyncenergy_controller.engine.kinds import DEFAULT_URLS, Recognised, describe, recognise
from asyncenergy_controller.engine.shapes import mapping, mappings
from asyncenergy_controller.engine.transport import TimeLimitedTransport
from asyncenergy_controller.engine.types import ChatRequest, ChatResult, EngineInfo, PrefixCache

PROBE_LIMIT_S = 5.0
# Fields a server may refuse without changing what is measured; each is left out once it said so.
DISPENSABLE = ("stream_options", "cache_prompt", "cache_salt", "stop")


class EngineClient:
    """One engine at one address. Safe to use from several threads at once."""

    def __init__(self, base_url: str, *, timeout_s: float = 300.0, api_key: str | None = None) -> None:
        """`timeout_s` bounds one whole answer; `base_url` may or may not end in /v1."""
        address = base_url if "://" in base_url else f"http://{base_url}"
        self.base_url = address.rstrip("/").removesuffix("/v1")
        self.timeout_s = timeout_s
        self.streaming = True
        self._has_streamed = False
        self.refused_fields: frozenset[str] = frozenset()
        self._recognised: Recognised | None = None
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        with translated(self.base_url, limit_s=timeout_s):
            self._transport = TimeLimitedTransport(limit_s=timeout_s)
            self._http = httpx2.Client(
                base_url=self.base_url,
                headers=headers,
                timeout=httpx2.Timeout(timeout_s, connect=min(timeout_s, PROBE_LIMIT_S)),
                transport=self._transport,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop the connections."""
        self._http.close()

    def break_off(self) -> None:
        """From another thread: end what is being asked, with an EngineError, and ask nothing more."""
        self._transport.break_off()

    def models(self) -> list[str]:
        """The names of the models on offer, as the engine spells them."""
        data = mapping(self._fetch("/v1/models", required=True)).get("data")
        if not isinstance(data, list):
            raise EngineProtocolError(f"{self.base_url}/v1/models is not a model list; is this an inference engine?")
        return [str(model["id"]) for model in mappings(data) if "id" in model]

    def recognised(self) -> Recognised:
        """Kind and version of the engine, asked once. Raises EngineNotFound where it is none."""
        if self._recognised is None:
            self._recognised = recognise(self._fetch)
        if self._recognised is None:
            raise EngineNotFound(f"{self.base_url} answers, but is no OpenAI-compatible engine (no /v1/models).")
        return self._recognised

    def info(self, model: str | None = None) -> EngineInfo:
        """What the engine says about `model` (default: its first)."""
        told = describe(self.recognised(), model or self.default_model(), self._fetch)
        return replace(told, prefix_cache=self.prefix_cache)

    def default_model(self) -> str:
        """The first model on offer. Raises EngineNotFound where there is none."""
        offered = self.models()
        if not offered:
            raise EngineNotFound(f"The engine at {self.base_url} has no model loaded. Load or pull one first.")
        return offered[0]

    @property
    def prefix_cache(self) -> PrefixCache:
        """Whether answers may have reused earlier prompts, as far as the engine lets us know."""
        kind = self.recognised().kind
        return "unknown" if kind.cache_field in self.refused_fields else kind.prefix_cache

    @property
    def can_load(self) -> bool:
        """Whether this engine takes a model out of memory, and puts it in again, when asked to."""
        return self.recognised().kind.loading_page is not None

    def load(self, model: str) -> None:
        """Return once the model is in memory. Only where `can_load`."""
        self._set_loaded({"model": model})

    def unload(self, model: str) -> None:
        """Take the model out of memory. Only where `can_load`."""
        self._set_loaded({"model": model, "keep_alive": 0})

    def _set_loaded(self, body: dict[str, Any]) -> None:
        page = self.recognised().kind.loading_page or ""
        with translated(self.base_url, limit_s=self.timeout_s):
            response = self._http.post(page, json=body | {"stream": False})
        if not response.is_success:
            raise refusal(response.status_code, _explanation(response), url=f"{self.base_url}{page}")

    def chat(self, request: ChatRequest) -> ChatResult:
        """Ask one question. A refused or broken stream is asked again in one piece, inside the same window."""
        t_start_s = clock.monotonic()
        if self.streaming:
            try:
                answer = self._ask(request, t_start_s, stream=True)
                self._has_streamed = answer.streamed
                return answer
            except StreamBroken:
                self.streaming = self._has_streamed
            except EngineRefused as error:
                if not re.search(r"\bstream", error.reply, re.IGNORECASE):
                    raise
                self.streaming = False
        return self._ask(request, t_start_s, stream=False)

    def _ask(self, request: ChatRequest, t_start_s: float, *, stream: bool) -> ChatResult:
        body = self._body(request, stream=stream)
        try:
            answer = self._post(body, request.model)
        except EngineRefused as error:
            named = {name for name in DISPENSABLE if name in body and re.search(rf"\b{name}\b", error.reply)}
            if not named:
                raise
            self.refused_fields |= named
            return self._ask(request, t_start_s, stream=stream)
        text = cut_at_stop(answer.text, request.stop) if "stop" in self.refused_fields else answer.text
        return answer.result(text, t_start_s, max_tokens=request.max_tokens)

    def _body(self, request: ChatRequest, *, stream: bool) -> dict[str, Any]:
        kind = self.recognised().kind
        body: dict[str, Any] = {
            "model": request.model,
            "messages": request.messages,
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "stream": stream,
        }
        optional = {"seed": request.seed, "stop": list(request.stop) or None}
        body |= {name: value for name, value in optional.items() if value is not None}
        body |= kind.without_cache() | kind.thinking(on=request.thinking, effort=request.reasoning_effort)
        body |= {"stream_options": {"include_usage": True}} if stream else {}
        return {name: value for name, value in body.items() if name not in self.refused_fields} | dict(request.extra)

    def _post(self, body: dict[str, Any], model: str) -> AnswerReader:
        url = f"{self.base_url}/v1/chat/completions"
        with (
            translated(self.base_url, limit_s=self.timeout_s),
            self._http.stream("POST", "/v1/chat/completions", json=body) as response,
        ):
            if not response.is_success:
                raise refusal(response.status_code, _explanation(response), url=url, model=model)
            is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
            answer: AnswerReader = StreamedAnswer(url) if is_stream else CompleteAnswer(url)
            answer.read(response)
            return answer

    def _fetch(self, path: str, *, required: bool = False) -> Any:
        """Decoded JSON of a page; None where the server has no such page and it isn't `required`."""
        with translated(self.base_url, limit_s=PROBE_LIMIT_S):
            response = self._http.get(path, timeout=PROBE_LIMIT_S)
        if response.is_success:
            return _json_or_none(response)
        if required or response.status_code in (401, 403, 503):  # 503: llama.cpp, while it loads its model
            raise refusal(response.status_code, _explanation(response), url=f"{self.base_url}{path}")
        return None


def detect_engine(
    urls: Iterable[str] | None = None, *, timeout_s: float = 300.0, api_key: str | None = None
) -> EngineClient:
    """The first engine that answers at `urls` (default: the usual ports of this machine), else EngineNotFound."""
    tried: list[str] = []
    for url in DEFAULT_URLS if urls is None else urls:
        client = EngineClient(url, timeout_s=timeout_s, api_key=api_key)
        try:
            client.recognised()
        except EngineError as error:
            client.close()
            tried.append(f"{url}: {_short(error)}")
            continue
        return client
    raise EngineNotFound(
        "No inference engine found. Tried " + "; ".join(tried) + ". Start llama.cpp's server, Ollama, vLLM or "
        "LM Studio, or give the address with --engine-url."
    )


def _short(error: EngineError) -> str:
    return "nobody listens" if type(error) is EngineUnreachable else str(error)


def _json_or_none(response: httpx2.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        return None


def _explanation(response: httpx2.Response) -> str:
    """The server's own sentence, wherever it put it, shortened."""
    response.read()
    reply = _json_or_none(response)
    for key in ("error", "detail", "message"):
        if isinstance(reply, dict) and key in reply:
            reply = reply[key]
    return str(reply if reply is not None else response.text).strip()[:500]
