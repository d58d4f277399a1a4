"""All tasks by name."""

from collections.abc import Callable
from pathlib import Path

from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.tasks.arith import ArithTask
from asyncenergy_controller.tasks.base import Task, UnknownTask
from asyncenergy_controller.tasks.choices import GpqaDiamond, Hellaswag, MmluRedux
from asyncenergy_controller.tasks.datasets import Source
from asyncenergy_controller.tasks.from_dataset import DatasetTask
from asyncenergy_controller.tasks.gsm8k import Gsm8k, Gsm8kPlatinum
from asyncenergy_controller.tasks.ifeval import Ifeval
from asyncenergy_controller.tasks.longctx import LongContextSummary
from asyncenergy_controller.tasks.math500 import Math500

_FROM_DATASET: dict[str, Callable[..., DatasetTask]] = {
    task.name: task for task in (Gsm8k, Gsm8kPlatinum, MmluRedux, GpqaDiamond, Hellaswag, Math500, Ifeval)
}
TASK_NAMES = ("arith", *sorted((LongContextSummary.name, *_FROM_DATASET)))


def get_task(
    name: str,
    *,
    n_shot: int | None = None,
    level: int | None = None,
    dataset_dir: Path | None = None,
    dataset_revision: str | None = None,
    may_download: bool = True,
) -> Task:
    """The task of this name; `level` is for arith alone, the data set options for all others.

    Without `may_download` a task whose questions are not on this machine raises NotHere when it is asked for them.
    Raises UnknownTask with the known names, UsageError for an option that the task does not take.
    """
    if name == "arith":
        options = {"level": level, "n_shot": n_shot}
        return ArithTask(**{key: value for key, value in options.items() if value is not None})
    if name not in TASK_NAMES:
        raise UnknownTask(f"There is no task {name!r}. Known tasks: {', '.join(TASK_NAMES)}.")
    if level is not None:
        raise UsageError(f"{name} has no levels; only arith does.")
    if name == LongContextSummary.name:
        return LongContextSummary()
    return _FROM_DATASET[name](Source(dataset_dir, dataset_revision, may_download), n_shot=n_shot)
