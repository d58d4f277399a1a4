"""Finding the final answer in a completion, and comparing it. Pure: the server marks again with this module.

Numbers: the last `#### n`, `\\boxed{n}` or "answer is n" counts; without one, the last number of the text wins.
Choices: the last "answer is X" counts; without one, a letter that stands alone.
"""

import re
from fractions import Fraction

_NUMBER = r"[-+−]?\s?\$?\s?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)?(?:\.\d+|(?<=\d))(?:\s?/\s?\d+(?![\d.]))?"
_ANY_NUMBER = re.compile(rf"(?<![\w.]){_NUMBER}|(?<=[=(]){_NUMBER}")
_MARKER = re.compile(r"####|\\boxed\{|\b(?:final\s+)?answer\b(?:\s+is|\s*[:=])+", re.IGNORECASE)
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)


def without_thinking(completion: str) -> str:
    """The completion without its `<think>` block; an unfinished block leaves nothing."""
    if "<think>" not in completion and "</think>" in completion:
        return completion.rsplit("</think>", 1)[1]
    return _THOUGHT.sub("", completion)


def canonical_number(text: str) -> str | None:
    """`$1,234.50.` as `1234.5`, `3 / 4` as `3/4`, None where the text is no number."""
    bare = re.sub(r"[\s$,]", "", text.strip().rstrip(".")).replace("−", "-").removeprefix("+").rstrip("%")
    match = re.fullmatch(r"(-?)(\d*)(?:\.(\d*))?(?:/(\d+))?", bare)
    if match is None or not (match[2] or match[3]):
        return None
    whole = (match[2] or "0").lstrip("0") or "0"
    decimals = (match[3] or "").rstrip("0")
    value = whole + (f".{decimals}" if decimals else "") + (f"/{match[4]}" if match[4] else "")
    return f"-{value}" if match[1] and value != "0" else value


def last_number(text: str) -> str | None:
    """The last number of a text in canonical form."""
    found = [match.group() for match in _ANY_NUMBER.finditer(text)]
    return canonical_number(found[-1]) if found else None


def final_number(completion: str) -> str | None:
    """The number a completion ends on: after its last answer mark, else the last number of all."""
    text = without_thinking(completion)
    for mark in reversed(list(_MARKER.finditer(text))):
        line = text[mark.end() :].split("\n", 1)[0].rsplit("=", 1)[-1]
        if (match := _ANY_NUMBER.search(line)) is not None:
            return canonical_number(match.group())
    return last_number(text)


def same_number(expected: str, given: str | None) -> bool:
    """Whether two canonical numbers have one value: 0.5, .50 and 1/2 are the same."""
    left, right = as_fraction(expected), as_fraction(given)
    return left is not None and left == right


def as_fraction(text: str | None) -> Fraction | None:
    """The exact value of a number as text, None where it is none."""
    number = canonical_number(text) if text is not None else None
    if number is None or len(number) > 64:
        return None
    numerator, _, denominator = number.partition("/")
    if denominator and int(denominator) == 0:
        return None
    return Fraction(numerator) / Fraction(denominator or "1")


def final_choice(completion: str, letters: str = "ABCD") -> str | None:
    """The letter a completion settles on: after its last answer mark, else alone on the first or last line."""
    text = without_thinking(completion)
    alone = re.compile(rf"(?<![\w'])[(\[*]*([{letters}])(?![\w'])")
    for mark in reversed(list(_MARKER.finditer(text))):
        if (match := alone.match(text[mark.end() :].lstrip(" *:\n"))) is not None:
            return match[1]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in (lines[:1] + lines[-1:]) if lines else []:
        if (match := re.match(rf"[(\[*]*([{letters}])(?:[)\].:,*]|\s*$)", line)) is not None:
            return match[1]
    return None
