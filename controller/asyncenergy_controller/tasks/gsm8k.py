"""gsm8k and gsm8k_platinum: grade-school word problems with worked solutions that end in `#### n`.

The number after the last `####`, `\\boxed{` or "answer is" counts; without one, the last number wins.
"""

import re
from functools import cached_property

from asyncenergy_controller.tasks import answers
from asyncenergy_controller.tasks.base import Item, TaskError, chat
from asyncenergy_controller.tasks.datasets import Dataset, DatasetFile, Row, load_split
from asyncenergy_controller.tasks.from_dataset import DatasetTask

SYSTEM = "Solve the problem step by step. End with a line that holds only #### and the final number."
GSM8K = Dataset(
    name="gsm8k",
    repo="openai/gsm8k",
    revision="740312add88f781978c0658806c59bc2815b9866",
    splits={
        "train": (
            DatasetFile(
                "main/train-00000-of-00001.parquet",
                "ea82612ea9582142387730c793eb67d3b12849002bc0b7fa6f8efafa7351419d",
            ),
        ),
        "test": (
            DatasetFile(
                "main/test-00000-of-00001.parquet",
                "ee7b8da9e381df27b9e3f7758a159ab2bdaa4dbaa910546cbbc47e0cb44e4f59",
            ),
        ),
    },
)
PLATINUM = Dataset(
    name="gsm8k_platinum",
    repo="madrylab/gsm8k-platinum",
    revision="e762492455a1cf7967de89f05b6bef72fc713b66",
    splits={"test": (DatasetFile("main/test-*.parquet"),)},
)
_CALCULATION = re.compile(r"<<[^<>]*>>")


def worked_solution(row: Row) -> str:
    """The data set's solution without its calculator marks."""
    return _CALCULATION.sub("", str(row["answer"]))


def key_number(row: Row) -> str:
    """The number after `####` in the data set's solution. Raises ValueError where there is none."""
    _, mark, number = str(row["answer"]).rpartition("####")
    key = answers.canonical_number(number) if mark else None
    if key is None:
        raise ValueError(f"no #### number in {str(row['answer'])[-60:]!r}")
    return key


class Gsm8k(DatasetTask):
    """The test questions of gsm8k, with the first training questions as worked examples."""

    name = "gsm8k"
    dataset = GSM8K
    default_shots = 5
    max_shots = 8
    default_max_tokens = 512
    stop = ("\n\nQuestion:",)

    @cached_property
    def _shots(self) -> list[tuple[str, str]]:
        if not self.n_shot:
            return []
        rows = load_split(GSM8K, "train", self._source).rows[: self.n_shot]
        if len(rows) < self.n_shot:
            raise TaskError(f"{self.name}: {self.n_shot} worked examples wanted, {len(rows)} training rows found.")
        return [(str(row["question"]), worked_solution(row)) for row in rows]

    def item(self, index: int, row: Row) -> Item:
        question = str(row["question"])
        return Item(index, question, key_number(row), chat(question, self._shots, system=SYSTEM))

    def extract(self, completion: str) -> str | None:
        return answers.final_number(completion)

    def score(self, item: Item, extracted: str | None, completion: str) -> float:
        return float(answers.same_number(item.answer, extracted))


class Gsm8kPlatinum(Gsm8k):
    """gsm8k's test questions as re-annotated by hand; worked examples are gsm8k's training questions."""

    name = "gsm8k_platinum"
    dataset = PLATINUM

    def usable(self, rows: list[Row]) -> list[int]:
        """All but those that the annotators took out."""
        return [index for index, row in enumerate(rows) if row.get("cleaning_status") != "rejected"]
