"""What a task is: questions with known answers, and the rule that says which answers are right."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from asyncenergy_controller.errors import ControllerError, UsageError

Message = dict[str, str]


class TaskError(ControllerError):
    """A task cannot be set up: its data are missing, unreadable or not what they should be."""


class UnknownTask(UsageError):
    """No task has this name."""


@dataclass(frozen=True, slots=True)
class Item:
    """One question. `index` is its position in the data set (or sequence); `facts` is what only its scorer needs."""

    index: int
    question: str
    answer: str
    messages: list[Message]
    facts: Mapping[str, Any] = field(default_factory=dict)


class Task(Protocol):
    """A set of questions, how to ask them, and how to mark the answers."""

    @property
    def name(self) -> str: ...
    @property
    def default_max_tokens(self) -> int: ...
    @property
    def stop(self) -> tuple[str, ...]: ...
    @property
    def n_shot(self) -> int: ...
    @property
    def dataset_revision(self) -> str | None: ...
    @property
    def is_canary(self) -> bool: ...

    def items(self, *, n: int, seed: int) -> list[Item]:
        """`n` different questions, the same ones for the same seed on every machine."""

    def extract(self, completion: str) -> str | None:
        """The final answer in a completion, None where it gives none."""

    def score(self, item: Item, extracted: str | None, completion: str) -> float:
        """0..1; tasks whose answers are right or wrong give 0.0 or 1.0."""


def seeded_order(count: int, *, key: str) -> list[int]:
    """0..count-1 in an order that depends on `key` alone, not on platform or Python version.

    A shorter draw is always the beginning of a longer one.
    """
    return sorted(range(count), key=lambda i: hashlib.sha256(f"{key}/{i}".encode()).digest())


def sampled(count: int, *, n: int, key: str) -> list[int]:
    """The first `n` of the seeded order. Raises TaskError where fewer exist, since no question is asked twice."""
    if not 1 <= n <= count:
        raise TaskError(f"{n} items were asked for, and there are {count}; ask for 1 to {count}.")
    return seeded_order(count, key=key)[:n]


def chat(question: str, shots: Sequence[tuple[str, str]] = (), *, system: str | None = None) -> list[Message]:
    """The conversation that puts a question: worked examples as earlier turns, then the question."""
    messages = [{"role": "system", "content": system}] if system else []
    for asked, answered in shots:
        messages += [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}]
    return [*messages, {"role": "user", "content": question}]
