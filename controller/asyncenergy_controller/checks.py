"""One line of a report on this machine."""

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

    def __str__(self) -> str:
        return f"{self.state:4}  {self.name}: {self.found}" + (f"\n      -> {self.advice}" if self.advice else "")
