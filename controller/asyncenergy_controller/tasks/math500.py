"""math500: competition problems whose answers are formulas.

The content of the last `\\boxed{}` counts; without one, what follows the last "answer is"; without either, the last
number. Two answers are the same if their normal forms are equal, or their values where both are numbers.
"""

import re

from asyncenergy_controller.tasks import answers
from asyncenergy_controller.tasks.base import Item, chat
from asyncenergy_controller.tasks.datasets import Dataset, DatasetFile, Row
from asyncenergy_controller.tasks.from_dataset import DatasetTask

SYSTEM = "Solve the problem step by step. Put the final answer, and nothing else, in \\boxed{}."
MATH500 = Dataset(
    name="math500",
    repo="HuggingFaceH4/MATH-500",
    revision="6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be",
    splits={"test": (DatasetFile("test.jsonl", "35dc41080a3680858b27fa7e0533d2d547825316fc5dafe5d316f4ccc5a06132"),)},
)

_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_SAID = re.compile(r"\banswer\b(?:\s+is|\s*[:=])+\s*([^\n]+)", re.IGNORECASE)
_DROPPED = re.compile(
    r"\\(?:left|right|displaystyle|[,;:! ]|quad|circ|degree)(?![a-zA-Z])|\^\{?\\circ\}?"
    r"|\\\$|\$|\\%|%|(?<=\d),(?=\d{3}\b)"
)
_WRAPPED = re.compile(r"\\(?:text|mathrm|textbf|mathbf|mbox|operatorname)\s*\{([^{}]*)\}")
_ROOT = re.compile(r"\\sqrt\s*(?:\{([^{}]*)\}|(\w))")
_FRACTION = re.compile(r"\\[dt]?frac\s*(?:\{([^{}]*)\}|(\w))\s*(?:\{([^{}]*)\}|(\w))")
_UNIT = re.compile(
    r"(?<=[\d)])(?:square|cubic)?(?:units?|inches|inch|feet|cm|meters|miles|hours|minutes|seconds|days|degrees?|cents|dollars)"
    r"(?:\^?\{?[23]\}?)?$"
)


def boxed(text: str) -> str | None:
    """The content of the last box, its braces balanced; None where there is none."""
    for match in reversed(list(_BOX.finditer(text))):
        depth = 1
        for at in range(match.end(), len(text)):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            if depth == 0:
                return text[match.end() : at]
    return None


def normal_form(formula: str) -> str:
    """A formula without spacing, units and the other things that two equal answers may differ in."""
    plain = _DROPPED.sub("", formula.strip().rstrip("."))
    while (unwrapped := _WRAPPED.sub(r"\1", plain)) != plain:
        plain = unwrapped
    plain = _ROOT.sub(lambda root: f"sqrt({root[1] or root[2]})", plain)
    while (flat := _FRACTION.sub(_as_quotient, plain)) != plain:
        plain = flat
    plain = re.sub(r"\s+|\\(?=[{}])", "", plain)
    plain = re.sub(r"^[a-zA-Z](?:\\in|=)", "", plain)
    plain = _UNIT.sub("", plain)
    return answers.canonical_number(plain) or plain


def _as_quotient(match: re.Match[str]) -> str:
    above, below = match[1] or match[2] or "", match[3] or match[4] or ""
    simple = re.compile(r"-?\w+(?:\([^()]*\))?")
    return "/".join(part if simple.fullmatch(part) else f"({part})" for part in (above, below))


def same_answer(expected: str, given: str | None) -> bool:
    """Whether two formulas are one answer."""
    if given is None:
        return False
    left, right = normal_form(expected), normal_form(given)
    return left == right or answers.same_number(left, right)


class Math500(DatasetTask):
    """The 500 problems of MATH that are commonly asked."""

    name = "math500"
    dataset = MATH500
    default_max_tokens = 1024

    def item(self, index: int, row: Row) -> Item:
        question = str(row["problem"])
        return Item(index, question, str(row["answer"]), chat(question, system=SYSTEM))

    def extract(self, completion: str) -> str | None:
        text = answers.without_thinking(completion)
        said = _SAID.findall(text)
        found = boxed(text) or (said[-1] if said else None)
        return normal_form(found) if found else answers.last_number(text)

    def score(self, item: Item, extracted: str | None, completion: str) -> float:
        return float(same_answer(item.answer, extracted))
