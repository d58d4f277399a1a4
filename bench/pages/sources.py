"""Code as a page shows it: what a function says of itself, the limits it holds to, and its source."""

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, cast

Code = Callable[..., Any]

_CONSTANT = re.compile(r"\b[A-Z][A-Z0-9_]+\b")


@dataclass(frozen=True, slots=True)
class Function:
    """A function in its own words, paragraph by paragraph; its source goes with that of its module's helpers."""

    name: str
    says: list[str]
    source: str


def function(code: Code) -> Function:
    says = inspect.getdoc(code) or ""
    paragraphs = [" ".join(paragraph.split()) for paragraph in says.split("\n\n") if paragraph]
    return Function(code.__name__, paragraphs, "\n\n".join(map(inspect.getsource, _with_helpers(code))))


def limits(functions: Iterable[Code]) -> list[tuple[str, float]]:
    """The numeric constants that these functions look at, by name; their unit ends the name."""
    found: dict[str, float] = {}
    for code in (each for function in functions for each in _with_helpers(function)):
        for name in _CONSTANT.findall(inspect.getsource(code)):
            value = code.__globals__.get(name)
            if isinstance(value, int | float):
                found[name] = value
    return list(found.items())


def _with_helpers(code: Code) -> list[FunctionType]:
    """The function and what it calls within its own module, each once, in the order of the calls."""
    found = [cast(FunctionType, code)]
    for one in found:
        called = (one.__globals__.get(name) for name in one.__code__.co_names)
        found += [
            helper
            for helper in called
            if isinstance(helper, FunctionType) and helper.__module__ == code.__module__ and helper not in found
        ]
    return found
