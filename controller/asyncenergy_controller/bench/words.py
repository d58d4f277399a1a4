"""Reasons in words: why a figure is withheld."""

from asyncenergy_controller.metrics import REASONS, RunFigures


def in_words(reason: str | None) -> str:
    """The sentence for a reason code; what is no code stays as it is."""
    return REASONS.get(reason or "", reason or "No reason was recorded.")


def why_no_headline(figures: RunFigures) -> str:
    """Why there are no joules per correct answer."""
    if figures.total_joules_gpu_best is None:
        return f"not measured: {in_words(figures.energy_reason)}"
    return "undefined: no answer was correct"


def why_no_tokens(figures: RunFigures) -> str:
    """Why a figure per token is missing."""
    if figures.total_completion_tokens is None:
        return "unknown: the engine reported no token counts"
    return why_no_headline(figures) if figures.total_joules_gpu_best is None else "undefined: no token was generated"
