"""Finding the final answer in a completion, and comparing it. Pure: the server marks again with this module.

Numbers: the last `#### n`, `\\boxed{n}` or "answer is n" counts; without one, the last number of the text wins.
Choices: the last "answer is X" counts; without one, "X is correct"; without either, a letter that opens the first or
the last line. Where two letters are named at that place, none is chosen.
"""

import re
from fractions import Fraction
from unicodedata import decimal

_NUMBER = r"[-+−]?\s?\$?\s?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)?(?:\.\d+|(?<=\d))(?:\s?/\s?\d+(?!\.?\d))?"
_ANY_NUMBER = re.compile(rf"(?<![\w.]){_NUMBER}|(?<=[=(]){_NUMBER}")
_IS = r"(?:[*_]*(?:\s+(?:is|equals|(?:would|should|must|will)\s+be)\b(?!\s+not\b)|\s*[:=]))+"
_HEADING = r"^[#*_ \t]*(?:final\s+)?answer[*_ \t]*$"
_MARKER = re.compile(rf"#{{4,}}|\\boxed\s*\{{|\banswer\b{_IS}|{_HEADING}", re.IGNORECASE | re.MULTILINE)
_AFTER_MARKER = " *_:\n"
_STATED = re.compile(
    rf"[\s*_$(\\\[]*(?P<number>{_NUMBER})[*_$]*[^\d=+*/×÷−-]*?(?:[.;!?](?:\s|$)|\(|\b(?:because|since|as)\b)"
)
_GROUPED = re.compile(r"(?<=\d)(?:\{,\}|,?\\[,!;: ]|[\u00a0\u2009\u202f])(?=\d{3}(?!\d))")
_FRACTION = re.compile(r"(?<![\d.])\\[cdt]?frac\s*\{(\d+)\}\s*\{(\d+)\}")
_THOUGHT = re.compile(r"<(think(?:ing)?)>.*?(?:</\1>|\Z)", re.DOTALL)
_THOUGHT_END = re.compile(r"</think(?:ing)?>")

_CHOICE_MARKER = re.compile(
    rf"\\boxed\s*\{{|\b(?:answer|(?:correct|right|best)\s+(?:option|choice))\b(?:{_IS}|[*_]*\s+[-–—]\s)|{_HEADING}",
    re.IGNORECASE | re.MULTILINE,
)
_BEFORE_LETTER = re.compile(
    r"(?:[\s:*_`$(\[{\"'“‘]|\\[(\[]|\\(?:text|math)\w*\s*\{"
    r"|\b(?:the|option|choice|letter|therefore|thus|clearly|probably|most\s+likely)\b)*",
    re.IGNORECASE,
)


def without_thinking(completion: str) -> str:
    """The completion without its `<think>` block; an unfinished block leaves nothing."""
    begun_in_the_prompt = not re.search(r"<think(?:ing)?>", completion)
    return _THOUGHT_END.split(completion)[-1] if begun_in_the_prompt else _THOUGHT.sub("", completion)


def canonical_number(text: str) -> str | None:
    """`$1,234.50.` as `1234.5`, `3 / 4` as `3/4`, None where the text is no number."""
    ascii_digits = "".join(str(decimal(sign, sign)) for sign in text)
    bare = re.sub(r"[\s$]", "", ascii_digits.strip().rstrip(".")).replace("−", "-").removeprefix("+").rstrip("%")
    match = re.fullmatch(r"(-?)(\d{1,3}(?:,\d{3})+|\d*)(?:\.(\d*))?(?:/(\d+))?", bare)
    if match is None or not (match[2] or match[3]):
        return None
    whole = match[2].replace(",", "").lstrip("0") or "0"
    decimals = (match[3] or "").rstrip("0")
    value = whole + (f".{decimals}" if decimals else "") + (f"/{match[4]}" if match[4] else "")
    return f"-{value}" if match[1] and value != "0" else value


def last_number(text: str) -> str | None:
    """The last number of a text in canonical form."""
    found = [match.group() for match in _ANY_NUMBER.finditer(text)]
    return canonical_number(found[-1]) if found else None


def final_number(completion: str) -> str | None:
    """The number a completion ends on: after its last answer mark, else the last number of all."""
    text = _FRACTION.sub(r"\1/\2", _GROUPED.sub(",", without_thinking(completion)))
    for mark in reversed(list(_MARKER.finditer(text))):
        line = text[mark.end() :].lstrip(_AFTER_MARKER).split("\n", 1)[0]
        if (number := _stated_number(line)) is not None:
            return canonical_number(number)
    return last_number(text)


def _stated_number(line: str) -> str | None:
    """The number that opens a line and stands for itself, else what its last equation comes to."""
    if (stated := _STATED.match(line)) is not None:
        return stated["number"]
    found = _ANY_NUMBER.search(line.rsplit("=", 1)[-1])
    return found.group() if found else None


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
    """The letter a completion settles on: after its last answer mark, else the one it calls correct, else alone on the
    first or last line.
    """
    text = without_thinking(completion)
    another = rf"[ *)\]]*(?:,|/|&|\band\b|\bor\b)[ (*]*[{letters}](?![^\W_]|\s+(?:is|was)\b)"
    one = rf"([{letters}])(?![^\W_]|['’][^\W_])(?!{another})"
    for mark in reversed(list(_CHOICE_MARKER.finditer(text))):
        tail = text[mark.end() :]
        if (match := re.match(one, tail[_BEFORE_LETTER.match(tail).end() :])) is not None:  # type: ignore[union-attr]
            return match[1]
    correct = re.findall(rf"(?<![\w'])([{letters}])[)*\]]*\s+is\s+(?:the\s+)?(?:correct|right|best)\b", text)
    return correct[-1] if correct else _opening_letter(text, one)


def _opening_letter(text: str, one: str) -> str | None:
    lines = [line for line in text.splitlines() if line.strip()]
    opening = re.compile(rf"[\s>*_`(\[-]*{one}(?:[)\].:,*_`]|\s+[-–—]\s|\s*$)")
    found = {match[1] for line in lines[:1] + lines[-1:] if (match := opening.match(line)) is not None}
    return found.pop() if len(found) == 1 else None
