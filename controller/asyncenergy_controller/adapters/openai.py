"""One question to an OpenAI-compatible server."""

from asyncenergy_controller.adapters.asking import Answer, asked, limit_s
from asyncenergy_controller.adapters.outcome import Outcome
from asyncenergy_controller.adapters.piece import Piece
from asyncenergy_controller.adapters.prompts import messages_of
from asyncenergy_controller.engine import ChatRequest, EngineClient, EngineFailed
from asyncenergy_controller.jobs.entry import OpenAIRequest
from asyncenergy_controller.settings import revealed


def run_openai(request: OpenAIRequest, piece: Piece) -> Outcome:
    """Ask and wait for the whole answer. Raises ControllerError for a prompt or an engine that fails."""
    messages = messages_of(request)
    with EngineClient(request.url, timeout_s=limit_s(piece), api_key=revealed(request.api_key)) as engine:
        engine.streaming = request.stream
        return asked(request, piece, lambda: _ask(engine, request, messages), engine.break_off)


def _ask(engine: EngineClient, request: OpenAIRequest, messages: list[dict[str, str]]) -> Answer:
    result = engine.chat(
        ChatRequest(
            model=request.model or engine.default_model(),
            messages=messages,
            max_tokens=request.max_tokens,
            temperature=request.temperature,
            seed=request.seed,
            stop=request.stop,
            reasoning_effort=request.reasoning_effort,
            extra={name: value for name, value in (("top_p", request.top_p), ("n", request.n)) if value is not None},
        )
    )
    if result.finish_reason == "error":
        raise EngineFailed(f"The engine at {request.url} broke its answer off after {len(result.text)} characters.")
    return Answer(result.text, result.completion_tokens)
