"""One line of the doctor's report."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warn", "fail", "skip"]


@dataclass(frozen=True)
class Check:
    """What was looked at, what was found, and what to do about it."""

    name: str
    state: State
    found: str
    advice: str | None = None
