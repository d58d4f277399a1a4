"""ifeval: does the answer keep to instructions that a program can check? One point where it keeps to all of them.

This is the strict measure: the answer is taken as it is. Nothing of it leaves the box, only the score.
"""

from collections.abc import Mapping
from typing import Any

from asyncenergy_controller.tasks import answers
from asyncenergy_controller.tasks.base import Item, chat
from asyncenergy_controller.tasks.datasets import Dataset, DatasetFile, Row
from asyncenergy_controller.tasks.from_dataset import DatasetTask
from asyncenergy_controller.tasks.ifeval_rules import RULES, follows

IFEVAL = Dataset(
    name="ifeval",
    repo="google/IFEval",
    revision="966cd89545d6b6acfd7638bc708b98261ca58e84",
    splits={
        "train": (
            DatasetFile("ifeval_input_data.jsonl", "6a85310ca8ce15eff755aa08a3a4ff931c7e273e7515ebb3c492ea85fd8288f2"),
        )
    },
)


class Ifeval(DatasetTask):
    """Prompts with one to three checkable instructions each."""

    name = "ifeval"
    dataset = IFEVAL
    split = "train"
    default_max_tokens = 1280

    def item(self, index: int, row: Row) -> Item:
        rules = list(zip(row["instruction_id_list"], row["kwargs"], strict=True))
        unknown = [name for name, _ in rules if name not in RULES]
        if unknown:
            raise ValueError(f"unknown instruction {unknown[0]!r}")
        prompt = str(row["prompt"])
        for name, given in rules:
            follows(name, prompt, given)  # what a rule lacks, or a missing package, is said now: not half way
        return Item(index, prompt, "", chat(prompt), facts={"rules": rules})

    def extract(self, completion: str) -> str | None:
        """Nothing: whether the instructions were followed is not an answer that could be sent."""
        return None

    def score(self, item: Item, extracted: str | None, completion: str) -> float:
        """1.0 where every instruction is followed."""
        text = answers.without_thinking(completion).strip()
        rules: list[tuple[str, Mapping[str, Any]]] = item.facts["rules"]
        return float(bool(text) and all(follows(name, text, given) for name, given in rules))
