"""Word problems made from a seed: nothing to download, nothing a model can have seen, five levels.

`item(index, seed=, level=)` gives any single question again, on every machine: the numbers come from sha256 alone.
Within one (seed, level) no two questions are alike: the index runs through a permutation of all that can be asked.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.tasks import answers
from asyncenergy_controller.tasks.base import Item, chat

GENERATOR = "arith-1"  # part of every key: a change of any question needs a new name
LEVELS = range(1, 6)
MAX_SHOTS = 8
SYSTEM = "Solve the problem. Show the calculation, then finish with: The answer is N."

NAMES = ("Ada", "Ben", "Cleo", "Dan", "Emma", "Finn", "Gita", "Hugo", "Iris", "Jon", "Kira", "Leo", "Mia", "Nils")
EXAMPLE_NAME = "Otto"
THINGS = ("apples", "books", "cards", "coins", "eggs", "marbles", "nuts", "pens", "shells", "stamps", "stones", "toys")


@dataclass(frozen=True, slots=True)
class ArithItem:
    """A question, its worked solution, and the number that answers it."""

    question: str
    working: str
    answer: str


@dataclass(frozen=True, slots=True)
class Template:
    """One kind of story: what it says about a name, a thing and numbers drawn from `ranges`."""

    tell: Callable[..., tuple[str, str, int]]
    ranges: tuple[range, ...]

    @property
    def size(self) -> int:
        """How many different questions this template can ask."""
        return len(NAMES) * len(THINGS) * prod(len(numbers) for numbers in self.ranges)

    def fill(self, code: int, who: str | None = None) -> ArithItem:
        """The question with this number, 0..size-1, told about `who` instead of its own name if given."""
        code, name = divmod(code, len(NAMES))
        code, thing = divmod(code, len(THINGS))
        drawn = []
        for numbers in self.ranges:
            code, place = divmod(code, len(numbers))
            drawn.append(numbers[place])
        question, working, answer = self.tell(who or NAMES[name], THINGS[thing], *drawn)
        return ArithItem(question, working, str(answer))


def _gets(who: str, what: str, a: int, b: int) -> tuple[str, str, int]:
    return (
        f"{who} has {a} {what} and gets {b} more. How many {what} does {who} have now?",
        f"{a} + {b} = {a + b}",
        a + b,
    )


def _finds(who: str, what: str, a: int, b: int) -> tuple[str, str, int]:
    story = f"{who} puts {a} {what} in a box. Then {who} puts {b} more {what} in the same box."
    return f"{story} How many {what} are in the box?", f"{a} + {b} = {a + b}", a + b


def _gives(who: str, what: str, left: int, b: int) -> tuple[str, str, int]:
    a = left + b
    return f"{who} has {a} {what} and gives {b} away. How many {what} are left?", f"{a} - {b} = {left}", left


def _loses(who: str, what: str, left: int, b: int) -> tuple[str, str, int]:
    a = left + b
    question = f"{who} had {a} {what} and lost {b} of them. How many {what} does {who} still have?"
    return question, f"{a} - {b} = {left}", left


def _boxes(who: str, what: str, a: int, b: int) -> tuple[str, str, int]:
    question = f"{who} has {a} boxes with {b} {what} in each. How many {what} does {who} have?"
    return question, f"{a} * {b} = {a * b}", a * b


def _shares(who: str, what: str, each: int, b: int) -> tuple[str, str, int]:
    a = each * b
    question = f"{who} shares {a} {what} equally among {b} friends. How many {what} does each friend get?"
    return question, f"{a} / {b} = {each}", each


def _gets_and_gives(who: str, what: str, a: int, b: int, c: int) -> tuple[str, str, int]:
    story = f"{who} has {a + c} {what}, gets {b} more and then gives {c} away."
    working = f"{a + c} + {b} = {a + b + c}. {a + b + c} - {c} = {a + b}"
    return f"{story} How many {what} does {who} have now?", working, a + b


def _boxes_and_more(who: str, what: str, a: int, b: int, c: int) -> tuple[str, str, int]:
    story = f"{who} has {a} boxes with {b} {what} in each, and {c} more {what} on the table."
    return f"{story} How many {what} is that?", f"{a} * {b} = {a * b}. {a * b} + {c} = {a * b + c}", a * b + c


def _sells_boxes(who: str, what: str, a: int, b: int, c: int, price: int) -> tuple[str, str, int]:
    total, left = a * b + c, a * b
    story = f"{who} packs {total} {what}, keeps {c} and sells the rest in bags of {b} for {price} dollars a bag."
    working = f"{total} - {c} = {left}. {left} / {b} = {a}. {a} * {price} = {a * price}"
    return f"{story} How many dollars does {who} get?", working, a * price


def _saves(who: str, what: str, weeks: int, per_week: int, a: int, price: int, kept: int) -> tuple[str, str, int]:
    start, saved, cost = a * price + kept, weeks * per_week, a * price
    story = f"{who} starts with {start} dollars and saves {per_week} dollars a week for {weeks} weeks."
    story += f" Then {who} buys {a} {what} for {price} dollars each."
    working = f"{weeks} * {per_week} = {saved}. {start} + {saved} = {start + saved}. "
    working += f"{a} * {price} = {cost}. {start + saved} - {cost} = {saved + kept}"
    return f"{story} How many dollars are left?", working, saved + kept


def _fraction(who: str, what: str, quarter: int, a: int, b: int) -> tuple[str, str, int]:
    total = 4 * quarter
    story = f"{who} has {total} {what}, gives a quarter of them to a friend, and then buys {a} packs of {b} {what}."
    working = f"{total} / 4 = {quarter}. {total} - {quarter} = {total - quarter}. {a} * {b} = {a * b}. "
    answer = total - quarter + a * b
    return f"{story} How many {what} does {who} have now?", working + f"{total - quarter} + {a * b} = {answer}", answer


def _percent(who: str, what: str, tenth: int, percent: int, a: int, b: int) -> tuple[str, str, int]:
    total = 10 * tenth
    sold = total * percent // 100
    story = f"{who} has {total} {what} and sells {percent} percent of them."
    story += f" From the rest {who} gives {a} {what} to each of {b} friends."
    answer = total - sold - a * b
    working = f"{total} * {percent} / 100 = {sold}. {total} - {sold} = {total - sold}. "
    working += f"{a} * {b} = {a * b}. {total - sold} - {a * b} = {answer}"
    return f"{story} How many {what} does {who} have left?", working, answer


def _same(tellers: tuple[Callable[..., tuple[str, str, int]], ...], *ranges: range) -> tuple[Template, ...]:
    return tuple(Template(tell, ranges) for tell in tellers)


_TABLE, _TENS = range(2, 10), range(11, 60)

TEMPLATES: dict[int, tuple[Template, ...]] = {
    1: _same((_gets, _gives, _finds, _loses), range(2, 8), range(2, 7)),
    2: _same((_gets, _gives), _TENS, range(6, 40)) + _same((_boxes, _shares), _TABLE, _TABLE),
    3: _same((_gets_and_gives, _boxes_and_more), range(3, 13), _TABLE, _TABLE),
    4: (
        Template(_sells_boxes, (range(3, 13), _TABLE, _TABLE, range(3, 13))),
        Template(_saves, (_TABLE, range(3, 13), _TABLE, _TABLE, range(1, 10))),
    ),
    5: (
        Template(_fraction, (range(12, 60), range(3, 13), range(6, 25))),
        Template(_percent, (range(20, 60), range(10, 50, 10), _TABLE, range(3, 7))),
    ),
}


def capacity(level: int) -> int:
    """How many different questions one seed holds at this level. Raises UsageError for an unknown level."""
    templates = _templates(level)
    return len(templates) * min(template.size for template in templates)


def _templates(level: int) -> tuple[Template, ...]:
    if level not in TEMPLATES:
        raise UsageError(f"arith has levels {LEVELS[0]} to {LEVELS[-1]}; {level} is not one of them.")
    return TEMPLATES[level]


def item(index: int, *, seed: int, level: int = 1) -> ArithItem:
    """Question number `index` of the sequence that `seed` starts. Raises UsageError outside the sequence."""
    size = capacity(level)
    if not 0 <= index < size:
        raise UsageError(f"arith level {level} has questions 0 to {size - 1}; {index} is not one of them.")
    key = f"{GENERATOR}/{level}/{seed}"
    code, which = divmod(_permuted(index, size, key), len(TEMPLATES[level]))
    template = TEMPLATES[level][which]
    return template.fill(_permuted(code, template.size, f"{key}/{which}"))


def example(number: int, *, level: int) -> ArithItem:
    """A worked example, the kinds of story in turn; its name is in no question, so it is never asked."""
    templates = _templates(level)
    template = templates[number % len(templates)]
    return template.fill(_permuted(number, template.size, f"{GENERATOR}/{level}/example"), who=EXAMPLE_NAME)


def _permuted(index: int, size: int, key: str) -> int:
    """Where `index` stands in a permutation of 0..size-1 (a four-round Feistel network, walked until inside)."""
    half = (size.bit_length() + 1) // 2
    while True:
        left, right = index >> half, index & ((1 << half) - 1)
        for turn in range(4):
            digest = hashlib.sha256(f"{key}/{turn}/{right}".encode()).digest()
            left, right = right, left ^ (int.from_bytes(digest[:8]) & ((1 << half) - 1))
        index = left << half | right
        if index < size:
            return index


class ArithTask:
    """The task `arith` at one level."""

    name = "arith"
    default_max_tokens = 96
    stop = ("\n\n",)
    dataset_revision = GENERATOR
    is_canary = False

    def __init__(self, *, level: int = 1, n_shot: int = 2) -> None:
        """`n_shot` worked examples (0..8) of the same level, none of them ever asked."""
        if not 0 <= n_shot <= MAX_SHOTS:
            raise UsageError(f"arith takes 0 to {MAX_SHOTS} worked examples, not {n_shot}.")
        self.level = level
        self.n_shot = n_shot
        self.capacity = capacity(level)
        examples = [example(number, level=level) for number in range(n_shot)]
        self._shots = [(shot.question, f"{shot.working}. The answer is {shot.answer}.") for shot in examples]

    def items(self, *, n: int, seed: int) -> list[Item]:
        """Questions 0..n-1 of the seed's sequence."""
        return [self._item(index, seed) for index in range(n)]

    def extract(self, completion: str) -> str | None:
        """The number after the last "answer is", else the last number."""
        return answers.final_number(completion)

    def score(self, item: Item, extracted: str | None, completion: str) -> float:
        """1.0 for the right number."""
        return float(answers.same_number(item.answer, extracted))

    def _item(self, index: int, seed: int) -> Item:
        asked = item(index, seed=seed, level=self.level)
        return Item(index, asked.question, asked.answer, chat(asked.question, self._shots, system=SYSTEM))
