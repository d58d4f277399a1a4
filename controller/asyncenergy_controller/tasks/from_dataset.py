"""What every task with questions from a data set has in common: load once, sample by seed, put the examples first."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import ClassVar

from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.tasks.base import Item, TaskError, sampled
from asyncenergy_controller.tasks.datasets import Dataset, Loaded, Row, Source, load_split


class DatasetTask(ABC):
    """Base of the tasks whose questions are rows of a data set."""

    name: ClassVar[str]
    dataset: ClassVar[Dataset]
    split: ClassVar[str] = "test"
    default_shots: ClassVar[int] = 0
    max_shots: ClassVar[int] = 0
    default_max_tokens: ClassVar[int]
    stop: ClassVar[tuple[str, ...]] = ()
    is_canary: ClassVar[bool] = False

    def __init__(self, source: Source | None = None, *, n_shot: int | None = None) -> None:
        """`n_shot` worked examples come before each question (None: the task's own number)."""
        self.n_shot = self.default_shots if n_shot is None else n_shot
        if not 0 <= self.n_shot <= self.max_shots:
            raise UsageError(f"{self.name} takes 0 to {self.max_shots} worked examples, not {self.n_shot}.")
        self._source = source or Source()

    @cached_property
    def loaded(self) -> Loaded:
        """The questions; the first use reads files or the hub."""
        return load_split(self.dataset, self.split, self._source)

    @property
    def dataset_revision(self) -> str | None:
        """Which data were read: a hub revision, or the files' sha256. None until they are read."""
        return self.loaded.revision if "loaded" in self.__dict__ else None

    def items(self, *, n: int, seed: int) -> list[Item]:
        """`n` rows by seed. Raises TaskError where the data are missing or have other fields than they should."""
        rows = self.loaded.rows
        try:
            usable = self.usable(rows)
            if not usable:
                raise TaskError(f"{self.dataset.repo}: none of its {len(rows)} rows is one that {self.name} asks.")
            chosen = sampled(len(usable), n=n, key=f"{self.name}/{seed}")
            return [self.item(usable[place], rows[usable[place]]) for place in chosen]
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise TaskError(f"{self.dataset.repo}: a row is not what {self.name} expects ({error!r}).") from error

    def usable(self, rows: list[Row]) -> list[int]:
        """Positions of the rows that may be asked."""
        return list(range(len(rows)))

    @abstractmethod
    def item(self, index: int, row: Row) -> Item:
        """The question of one row."""

    @abstractmethod
    def extract(self, completion: str) -> str | None:
        """The final answer in a completion, None where it gives none."""

    @abstractmethod
    def score(self, item: Item, extracted: str | None, completion: str) -> float:
        """0..1."""
