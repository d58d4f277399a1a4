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
_SAID = re.compile(r"\banswer\b[*_]*(?:\s+is\b|\s*[:=])+[*_]*\s*([^\n]+?)(?:[.;]\s|$)", re.IGNORECASE | re.MULTILINE)
_SPELT = {"π": r"\pi", "∞": r"\infty", "−": "-", "bmatrix": "pmatrix"}
_GROUP = re.compile(r"(?<=\d)(?:\{,\}|,?\\[,!;: ]|,)\s?(?=\d{3}(?!\d))")
_GROUPED_LIST = re.compile(r"(?<=\d),\s+(?=\d{3}(?!\d))")
_DROPPED = re.compile(
    r"\\(?:left|right|displaystyle|quad|circ|degree)(?![a-zA-Z])|(?<!\\)\\[,;:! ()\[\]]|~|°|\^\{?\\circ\}?"
    r"|\\\$|\$|\\%|%|\*\*"
)
_WRAPPED = re.compile(r"\\(?:text|textrm|textit|textbf|mathrm|mathbf|mbox|operatorname)\s*\{([^{}]*)\}")
_ROOT = re.compile(r"\\sqrt(?:\{([^{}]*)\}|(\w))")
_FRACTION = re.compile(r"\\[cdt]?frac(?:\{([^{}]*)\}|(\w))(?:\{([^{}]*)\}|(\w))")
_MIXED = re.compile(
    r"(?<![\w.^])(\d{1,9})\s*(?:\\[cdt]?frac\s*(?:\{(\d{1,9})\}|(\d))\s*(?:\{(\d{1,9})\}|(\d))|\s(\d{1,9})/(\d{1,9}))"
)
_FACTORS = re.compile(r"-?[\w\\]+(?:\([^()]*\))?")
_FACTOR = re.compile(r"\d+|[a-zA-Z]|\\[a-zA-Z]+|sqrt\([^()]*\)")
_UNIT = re.compile(
    r"(?<=\d)\s*(?:\\(?:text|mbox|mathrm)\s*\{[\s~]*[a-z][a-z ./]*\}|\s[a-z]{3,}(?:\s[a-z]+)*)(?:\s*\^\s*\{?[23]\}?)?$"
)
_BARE_UNIT = re.compile(
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
    plain = formula.strip().rstrip(".")
    for sign, name in _SPELT.items():
        plain = plain.replace(sign, name)
    plain = _DROPPED.sub("", _GROUP.sub("", _GROUPED_LIST.sub(";", plain))).strip()
    plain = _MIXED.sub(_as_improper, _UNIT.sub("", plain))
    while (unwrapped := _WRAPPED.sub(r"\1", plain)) != plain:
        plain = unwrapped
    plain = _quotients_and_roots(re.sub(r"\s+", "", plain))
    plain = re.sub(r"([\^_])\{(\w)\}", r"\1\2", re.sub(r"^\{([^{},]*)\}$", r"\1", plain))
    plain = re.sub(r"^[a-zA-Z](?:\([a-z]\))?(?:\\in|=)", "", re.sub(r"\\(?=[{}])", "", plain))
    plain = re.sub(r"^\(([A-Za-z])\)$", r"\1", _BARE_UNIT.sub("", plain))
    return answers.canonical_number(plain) or plain


def _quotients_and_roots(plain: str) -> str:
    while (flat := _FRACTION.sub(_as_quotient, _ROOT.sub(r"sqrt(\1\2)", plain))) != plain:
        plain = flat
    return plain


def _as_quotient(match: re.Match[str]) -> str:
    above, below = match[1] or match[2] or "", match[3] or match[4] or ""
    parts = ((above, _FACTORS), (below, _FACTOR))
    return "/".join(part if simple.fullmatch(part) else f"({part})" for part, simple in parts)


def _as_improper(match: re.Match[str]) -> str:
    """A whole number with a fraction, such as 3 1/2, as one fraction."""
    whole, above, below = (int(number) for number in match.groups() if number)
    return f"{whole * below + above}/{below}"


def same_answer(expected: str, given: str | None) -> bool:
    """Whether two formulas are one answer. The order of a list without brackets does not matter."""
    if given is None:
        return False
    left, right = (_parts(normal_form(formula)) for formula in (expected, given))
    return len(left) == len(right) and all(map(_same_part, left, right))


def _parts(plain: str) -> list[str]:
    return [plain] if re.search(r"[(\[{]", plain) else sorted(map(normal_form, re.split("[,;]", plain)))


def _same_part(left: str, right: str) -> bool:
    are_words = left.isalpha() and len(left) > 1
    return left == right or answers.same_number(left, right) or (are_words and left.casefold() == right.casefold())


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
