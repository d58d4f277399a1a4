"""Multiple choice: mmlu_redux, gpqa_diamond and hellaswag.

The letter after the last "answer is" counts; without one, a letter that opens the first or the last line.
"""

from abc import abstractmethod
from collections.abc import Sequence

from asyncenergy_controller.tasks import answers
from asyncenergy_controller.tasks.base import Item, chat, seeded_order
from asyncenergy_controller.tasks.datasets import Dataset, DatasetFile, Row
from asyncenergy_controller.tasks.from_dataset import DatasetTask

LETTERS = "ABCD"
BRIEFLY = "Answer with one line: The answer is X. X is the letter of the right choice."
AT_LENGTH = "Think it through. Then end with one line: The answer is X. X is the letter of the right choice."

SUBJECTS = [
    "abstract_algebra",
    "anatomy",
    "astronomy",
    "business_ethics",
    "clinical_knowledge",
    "college_biology",
    "college_chemistry",
    "college_computer_science",
    "college_mathematics",
    "college_medicine",
    "college_physics",
    "computer_security",
    "conceptual_physics",
    "econometrics",
    "electrical_engineering",
    "elementary_mathematics",
    "formal_logic",
    "global_facts",
    "high_school_biology",
    "high_school_chemistry",
    "high_school_computer_science",
    "high_school_european_history",
    "high_school_geography",
    "high_school_government_and_politics",
    "high_school_macroeconomics",
    "high_school_mathematics",
    "high_school_microeconomics",
    "high_school_physics",
    "high_school_psychology",
    "high_school_statistics",
    "high_school_us_history",
    "high_school_world_history",
    "human_aging",
    "human_sexuality",
    "international_law",
    "jurisprudence",
    "logical_fallacies",
    "machine_learning",
    "management",
    "marketing",
    "medical_genetics",
    "miscellaneous",
    "moral_disputes",
    "moral_scenarios",
    "nutrition",
    "philosophy",
    "prehistory",
    "professional_accounting",
    "professional_law",
    "professional_medicine",
    "professional_psychology",
    "public_relations",
    "security_studies",
    "sociology",
    "us_foreign_policy",
    "virology",
    "world_religions",
]

MMLU_REDUX = Dataset(
    name="mmlu_redux",
    repo="edinburgh-dawg/mmlu-redux-2.0",
    revision="372ea425445d51e1ba1188c56e5e893f8138621f",
    splits={
        "test": tuple(
            DatasetFile(f"{subject}/data-00000-of-00001.arrow", says={"subject": subject}) for subject in SUBJECTS
        )
    },
)
GPQA = Dataset(
    name="gpqa_diamond",
    repo="Idavidrein/gpqa",
    revision="633f5ee89ab8ad4522a9f850766b73f62147ffdd",
    splits={
        "train": (DatasetFile("gpqa_diamond.csv", "41d1213cd7a4998605a26c2798500652572007161b3a92817ba46b35befcd305"),)
    },
)
HELLASWAG = Dataset(
    name="hellaswag",
    repo="Rowan/hellaswag",
    revision="218ec52e09a7e7462a5400043bb9a69a41d06b76",
    splits={
        "validation": (
            DatasetFile(
                "data/validation-00000-of-00001.parquet",
                "899813071e1e95efafec90f856e1987d2150fa4d020fc005df6962c259f660cd",
            ),
        )
    },
)


def put(question: str, choices: Sequence[str]) -> str:
    """The question with its lettered choices."""
    if len(choices) != len(LETTERS):
        raise ValueError(f"{len(choices)} choices instead of {len(LETTERS)}")
    lines = [f"{letter}. {choice}" for letter, choice in zip(LETTERS, choices, strict=True)]
    return "\n".join([question.strip(), *lines])


def letter_of(label: int | str) -> str:
    """The letter of a choice that a data set calls 0 to 3."""
    place = int(label)
    if not 0 <= place < len(LETTERS):
        raise ValueError(f"choice {place} of {len(LETTERS)}")
    return LETTERS[place]


class ChoiceTask(DatasetTask):
    """One of four letters is right."""

    default_max_tokens = 32
    system = BRIEFLY

    @abstractmethod
    def asked(self, index: int, row: Row) -> tuple[str, str]:
        """The question as it is put, and the letter that is right."""

    def shots(self, index: int, row: Row) -> list[tuple[str, str]]:
        """Worked examples that fit this row."""
        return []

    def item(self, index: int, row: Row) -> Item:
        question, letter = self.asked(index, row)
        return Item(index, question, letter, chat(question, self.shots(index, row), system=self.system))

    def extract(self, completion: str) -> str | None:
        return answers.final_choice(completion, LETTERS)

    def score(self, item: Item, extracted: str | None, completion: str) -> float:
        return float(extracted == item.answer)


class MmluRedux(ChoiceTask):
    """MMLU questions that people checked and found without error. The first five of each subject are the worked
    examples of that subject and are never asked, whatever the number of examples wanted.
    """

    name = "mmlu_redux"
    dataset = MMLU_REDUX
    default_shots = 5
    max_shots = 5

    def usable(self, rows: list[Row]) -> list[int]:
        reserved = {place for places in self._by_subject(rows).values() for place in places[: self.max_shots]}
        return [place for place in self._sound(rows) if place not in reserved]

    def asked(self, index: int, row: Row) -> tuple[str, str]:
        return put(str(row["question"]), row["choices"]), letter_of(row["answer"])

    def shots(self, index: int, row: Row) -> list[tuple[str, str]]:
        rows = self.loaded.rows
        examples = self._by_subject(rows)[str(row["subject"])][: self.n_shot]
        put_examples = [self.asked(place, rows[place]) for place in examples]
        return [(question, f"The answer is {letter}.") for question, letter in put_examples]

    def _sound(self, rows: list[Row]) -> list[int]:
        return [place for place, row in enumerate(rows) if row.get("error_type") == "ok"]

    def _by_subject(self, rows: list[Row]) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place in self._sound(rows):
            places.setdefault(str(rows[place]["subject"]), []).append(place)
        return places


class GpqaDiamond(ChoiceTask):
    """Graduate-level questions; the choices stand in an order that depends on the question's place alone."""

    name = "gpqa_diamond"
    dataset = GPQA
    split = "train"
    default_max_tokens = 2048
    system = AT_LENGTH

    def asked(self, index: int, row: Row) -> tuple[str, str]:
        given = [row["Correct Answer"], *(row[f"Incorrect Answer {number}"] for number in (1, 2, 3))]
        order = seeded_order(len(given), key=f"gpqa/{index}")
        choices = [str(given[place]).strip() for place in order]
        return put(str(row["Question"]), choices), LETTERS[order.index(0)]


class Hellaswag(ChoiceTask):
    """Which sentence goes on: a canary, since no chat model should fail it and every corpus holds it."""

    name = "hellaswag"
    dataset = HELLASWAG
    split = "validation"
    is_canary = True

    def asked(self, index: int, row: Row) -> tuple[str, str]:
        question = f"{row['activity_label']}: {row['ctx']} ...\nWhich ending fits best?"
        return put(question, row["endings"]), letter_of(row["label"])
