"""longctx_summary: long minutes made from a seed; the score is the share of the decisions that the summary names.

Nothing to download. A decision counts where its name and its number stand in one sentence or line of the summary.
"""

import hashlib
import re

from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.tasks import answers
from asyncenergy_controller.tasks.base import Item, chat, seeded_order

GENERATOR = "longctx-1"
PARAGRAPHS = 40
DECISIONS = 8
MAX_ITEMS = 100_000
SYSTEM = "Summarise the minutes: list every decision with its name and its amount, one line each, and nothing else."

PROJECTS = [
    "Alder",
    "Birch",
    "Cedar",
    "Dogwood",
    "Elm",
    "Fir",
    "Ginkgo",
    "Hazel",
    "Ironwood",
    "Juniper",
    "Katsura",
    "Larch",
    "Maple",
    "Nutmeg",
    "Oak",
    "Pine",
    "Quince",
    "Rowan",
    "Spruce",
    "Teak",
    "Umbrella",
    "Viburnum",
    "Willow",
    "Yew",
    "Zelkova",
    "Aspen",
    "Beech",
    "Cypress",
    "Ebony",
    "Hemlock",
    "Laurel",
    "Mulberry",
]
SUBJECTS = (
    "the heating of the east wing",
    "the order of the autumn talks",
    "parking for visitors",
    "the state of the archive",
    "the canteen's opening hours",
    "a new sign at the gate",
    "the summer course",
    "repairs to the roof",
)
REMARKS = (
    "Several members described what they had seen over the past weeks and compared it with last year.",
    "The chair thanked everybody who had prepared notes and asked for patience with the printer.",
    "It was agreed that the matter needs more facts before anything can be settled.",
    "Two letters from neighbours were read out, both friendly, and put in the file.",
    "A short discussion followed about who should be told and in which order.",
    "Nobody wished to add anything, so the point was left open until the next meeting.",
    "The caretaker explained how things are done at present and why that has worked so far.",
    "Questions about the timetable were noted and passed on to the office.",
)


def minutes(index: int, *, seed: int) -> tuple[str, dict[str, int]]:
    """Minutes number `index` of a seed, and the amount decided for each project in them."""
    key = f"{GENERATOR}/{seed}/{index}"
    names = [PROJECTS[place] for place in seeded_order(len(PROJECTS), key=f"{key}/names")[:DECISIONS]]
    amounts = {name: 100 + _number(f"{key}/{name}", 9900) for name in names}
    where = sorted(seeded_order(PARAGRAPHS, key=f"{key}/where")[:DECISIONS])
    decided = dict(zip(where, amounts, strict=True))
    paragraphs = [_paragraph(key, place, decided.get(place), amounts) for place in range(PARAGRAPHS)]
    return "\n\n".join(paragraphs), amounts


def _paragraph(key: str, place: int, decided: str | None, amounts: dict[str, int]) -> str:
    subject = SUBJECTS[_number(f"{key}/{place}/subject", len(SUBJECTS))]
    remarks = [REMARKS[remark] for remark in seeded_order(len(REMARKS), key=f"{key}/{place}")[:3]]
    if decided is not None:
        remarks[1] = f"The members decided to give project {decided} {amounts[decided]} euros."
    return f"{place + 1}. On {subject}. {' '.join(remarks)}"


def _number(key: str, below: int) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8]) % below


def recalled(amounts: dict[str, int], summary: str) -> float:
    """The share of the decisions whose name and amount stand together in the summary."""
    pieces = re.split(r"[\n;]|(?<=[.!?])\s", re.sub(r"(?<=\d)(?:[,.'’]|[^\S\n])(?=\d{3}(?!\d))", "", summary))
    found = [name for name, amount in amounts.items() if any(_names(piece, name, amount) for piece in pieces)]
    return len(found) / len(amounts)


def _names(piece: str, name: str, amount: int) -> bool:
    amount_alone = rf"(?<!\d){amount}(?!\d)"
    return re.search(rf"\b{name}\b", piece, re.IGNORECASE) is not None and re.search(amount_alone, piece) is not None


class LongContextSummary:
    """Minutes of about 2,300 tokens with eight decisions in them."""

    name = "longctx_summary"
    default_max_tokens = 256
    stop: tuple[str, ...] = ()
    n_shot = 0
    dataset_revision = GENERATOR
    is_canary = False

    def items(self, *, n: int, seed: int) -> list[Item]:
        """Minutes 0..n-1 of the seed."""
        if not 1 <= n <= MAX_ITEMS:
            raise UsageError(f"{self.name} takes 1 to {MAX_ITEMS} items, not {n}.")
        return [self._item(index, seed) for index in range(n)]

    def extract(self, completion: str) -> str | None:
        """Nothing: a summary is not an answer that could be sent."""
        return None

    def score(self, item: Item, extracted: str | None, completion: str) -> float:
        """0..1: the share of the decisions named."""
        return recalled(item.facts["amounts"], answers.without_thinking(completion))

    def _item(self, index: int, seed: int) -> Item:
        text, amounts = minutes(index, seed=seed)
        return Item(index, text, "", chat(text, system=SYSTEM), facts={"amounts": amounts})
