"""Codes of plans, runs and controllers in words for people. A code without words here is shown as it is."""

import re
from datetime import timedelta

from bench.presentation import duration, with_unit

REASONS = {
    "not_in_horizon": "Its time lies beyond the prices that can be known now.",
    "no_price": "A part of its window has no price, and a missing price is never guessed.",
    "capacity": "Its machine is taken by other jobs in the whole window.",
    "watt_limit": "Your watt limit leaves no room for it beside the others.",
}
METHODS = {
    "history": "from measured runs",
    "bench_prior": "from the published benchmark of its class",
    "nameplate": "from its nameplate",
}
OUTCOMES = {"success": ("done", "ok"), "error": ("failed", "held"), "preempted": ("stopped", "flag")}


def outcome(exit_status: str | None) -> tuple[str, str]:
    """What became of a run in a word, and the shape that says so."""
    return OUTCOMES.get(exit_status or "", ("not reported", "none"))


_MINUTES = re.compile(r"(\d+) min")
_LENGTH = re.compile(r"(?:(\d+)h)?(?:(\d+)(?:min)?)?(?:([\d.]+)s)?")


def _seconds(length: str) -> float:
    """The optimizer's ``6h20`` in seconds."""
    found = _LENGTH.fullmatch(length)
    hours, minutes, seconds = (float(part or 0) for part in found.groups()) if found else (0.0, 0.0, 0.0)
    return hours * 3600 + minutes * 60 + seconds


def lasts(seconds: float) -> str:
    """A length of time to the minute: ``45 min``, ``3 h``, ``3 h 15 min``."""
    hours, minutes = divmod(round(seconds / 60), 60)
    parts = [(hours, "h"), (minutes, "min")]
    return " ".join(with_unit(str(n), unit) for n, unit in parts if n) or duration(seconds)


FIELDS = {"give ": "say ", "est_duration_s": "how long it takes", "nameplate_watts": "what it draws"}


def missing_in_words(sentence: str) -> str:
    """What would have to be known of a job, for people who see labels and no field names."""
    for name, words in FIELDS.items():
        sentence = sentence.replace(name, words)
    return f"{sentence[:1].upper()}{sentence[1:].rstrip('.')}."


def reason_in_words(reason: str) -> str:
    """Why a job can't be placed, as a sentence."""
    if reason.startswith("duration ") and " > window " in reason:
        takes, window = (lasts(_seconds(part)) for part in reason.removeprefix("duration ").split(" > window "))
        return f"It takes up to {takes}, and its window has {window}."
    return REASONS.get(reason) or missing_in_words(reason)


def change_in_words(change: str) -> str:
    """The smallest change that helps: ``deadline 961 min later`` is 16 h 1 min to a person."""
    return _MINUTES.sub(lambda found: lasts(60 * int(found[1])), change)


def ago(passed: timedelta) -> str:
    """How long ago, roughly: ``just now``, ``3 min ago``, ``2 h 5 min ago``, ``4 days ago``."""
    minutes = int(passed.total_seconds() // 60)
    if minutes < 1:
        return "just now"
    hours, rest = divmod(minutes, 60)
    if not hours:
        return f"{minutes} min ago"
    if hours < 48:
        return f"{hours} h {rest} min ago" if rest else f"{hours} h ago"
    return f"{hours // 24} days ago"
