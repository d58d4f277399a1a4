"""What goes into an engine and what comes out. All times are seconds of `clock.monotonic()`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

PrefixCache = Literal["on", "off", "unknown"]
FinishReason = Literal["stop", "length", "error"]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question. `thinking` None leaves the model's default; `extra` goes into the body as it is."""

    model: str
    messages: list[dict[str, str]]
    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    thinking: bool | None = None
    reasoning_effort: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatResult:
    """One answer. Token counts are the server's or None; the first token's time is None when it did not stream."""

    text: str
    finish_reason: FinishReason
    prompt_tokens: int | None
    cached_prompt_tokens: int | None
    completion_tokens: int | None
    t_start_s: float
    t_first_token_s: float | None
    t_end_s: float
    token_times_s: tuple[float, ...]
    streamed: bool

    @property
    def ttft_s(self) -> float | None:
        """Seconds to the first token, None where the answer came in one piece."""
        return None if self.t_first_token_s is None else self.t_first_token_s - self.t_start_s


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """Which engine serves which model. Every string but `model_id` and `model_file` may leave the box."""

    engine: str
    engine_version: str | None
    model_id: str
    model_basename: str
    quantization: str | None
    ctx_size: int | None
    parallel_slots: int | None
    prefix_cache: PrefixCache
    thinking_switch: bool
    weights_digest: str | None = None
    model_file: Path | None = None
