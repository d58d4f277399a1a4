"""Scores answers again where the server has the key. Pure: no Django, no I/O."""

from collections.abc import Mapping, Sequence
from typing import Any

from asyncenergy_controller.tasks import answers, arith

DEFAULT_LEVEL = 1


def server_scores(run: Mapping[str, Any]) -> list[float] | None:
    """0.0 or 1.0 an item by the server's own key; None where it has no key or the run brought no answers.

    A missing answer among answers is a wrong one. Questions that the sequence does not hold leave no key.
    """
    given: Sequence[str | None] | None = run["items"].get("answer")
    key = _arith_key(run)
    if given is None or key is None:
        return None
    return [float(answers.same_number(right, answer)) for right, answer in zip(key, given, strict=True)]


def _arith_key(run: Mapping[str, Any]) -> list[str] | None:
    seed, level = run.get("seed"), (run.get("settings") or {}).get("arith_level") or DEFAULT_LEVEL
    of_this_generator = run.get("dataset_revision") in (None, arith.GENERATOR)
    if run.get("task") != "arith" or seed is None or level not in arith.LEVELS or not of_this_generator:
        return None
    index, last = run["items"]["index"], arith.capacity(level) - 1
    if any(not 0 <= i <= last for i in index):
        return None
    return [arith.item(i, seed=seed, level=level).answer for i in index]
