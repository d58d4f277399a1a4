"""What both ways of asking a language model have in common."""

from collections.abc import Callable
from dataclasses import dataclass

from asyncenergy_controller.adapters.outcome import Outcome
from asyncenergy_controller.adapters.piece import Piece
from asyncenergy_controller.engine import EngineError
from asyncenergy_controller.files import PRIVATE_FILE, write_atomically
from asyncenergy_controller.jobs.entry import OllamaRequest, OpenAIRequest

LONGEST_S = 86400.0
TOKENS = "tokens"


@dataclass(frozen=True)
class Answer:
    """Text and the tokens that were generated; None where the engine did not count them."""

    text: str
    tokens: int | None


def limit_s(piece: Piece) -> float:
    """Seconds that an answer may take."""
    return max(piece.leash.left_s(LONGEST_S), 0.1)


def asked(
    request: OllamaRequest | OpenAIRequest, piece: Piece, ask: Callable[[], Answer], break_off: Callable[[], None]
) -> Outcome:
    """Ask, keep the answer, and say what came of it. Raises EngineError and OSError."""
    try:
        with piece.leash.calls(break_off):
            answer = ask()
    except EngineError:
        why = piece.leash.over()
        if why is None:
            raise
        return _ended(why)
    piece.log.write(answer.text.encode(errors="replace") + b"\n")
    if not answer.text and not answer.tokens:
        return Outcome("error", "the engine answered nothing")
    if request.output_file is not None:
        write_atomically(request.output_file, answer.text.encode(errors="replace"), mode=PRIVATE_FILE)
    units = None if answer.tokens is None else float(answer.tokens)
    return Outcome("success", work_units=units, work_unit_kind=None if units is None else TOKENS)


def _ended(why: str) -> Outcome:
    if why == "stop":
        return Outcome("preempted", "interrupted; the question is asked again from the start")
    return Outcome("error", "ended because its time was over before the answer was complete")
