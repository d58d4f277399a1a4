"""Grades of a configuration, and every threshold behind them. Pure: no Django, no I/O.

The thresholds are provisional: they were set before the corpus was large, and they will be set anew in the open.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median_low
from typing import Any

from asyncenergy_controller.wire import SHIPPED_ANSWER_TASKS

EDITION = "provisional 1"
GRADED_TASKS = frozenset({*SHIPPED_ANSWER_TASKS, "ifeval"})
MIN_TASKS = 2

# from here on 2, 3, 4 and 5 stars; where less is better the bounds fall
CAPABILITY_PCT = (40.0, 55.0, 70.0, 85.0)
EFFICIENCY_INDEX = (0.5, 1.0, 2.0, 4.0)
TOKENS_PER_SECOND = (10.0, 30.0, 80.0, 200.0)
POWER_CV = (0.40, 0.25, 0.15, 0.08)
FLEX_SHARE = (0.10, 0.20, 0.30, 0.40)
MEMORY_MIB = (40_960.0, 20_480.0, 10_240.0, 5_120.0)
LETTERS = ((4.5, "A"), (3.5, "B"), (2.5, "C"), (1.5, "D"))
LOWEST_LETTER = "F"
STARS = ("capability", "efficiency", "speed", "smoothness", "flexibility", "footprint")
LETTER_NEEDS = ("capability_stars", "efficiency_stars", "speed_stars")

# the reference configuration of the efficiency index, by the names that controllers send
REFERENCE_MODELS = frozenset({"Qwen/Qwen3.5-9B", "Qwen3.5-9B", "qwen3.5:9b-q4_K_M", "Qwen3.5-9B-Q4_K_M.gguf"})
REFERENCE_ENGINE = "llama.cpp"
REFERENCE_TASK = "gsm8k_platinum"

Row = Mapping[str, Any]


def thresholds() -> dict[str, Any]:
    """The edition, and from where on 2, 3, 4 and 5 stars are given."""
    return {
        "edition": EDITION,
        "min_tasks": MIN_TASKS,
        "capability_pct": CAPABILITY_PCT,
        "efficiency_index": EFFICIENCY_INDEX,
        "tokens_per_second": TOKENS_PER_SECOND,
        "power_cv": POWER_CV,
        "flex_share": FLEX_SHARE,
        "memory_mib": MEMORY_MIB,
        "letters": {letter: least for least, letter in LETTERS},
    }


@dataclass(frozen=True, slots=True)
class Grade:
    """Stars 1 to 5 by name, None where they are withheld, and a letter if the stars that it needs are there."""

    grades: dict[str, float | None]
    letter: str | None


def is_reference(config: Mapping[str, Any], task: str | None) -> bool:
    """Whether a row is of the configuration that the efficiency index compares with."""
    at_stock = config.get("power_limit_w") is None and config.get("clock_lock_mhz") is None
    one_by_one = config.get("concurrency") == 1 and config.get("engine") == REFERENCE_ENGINE
    return at_stock and one_by_one and config.get("model") in REFERENCE_MODELS and task == REFERENCE_TASK


def is_graded(row: Row) -> bool:
    """Claimed figures, cut answers and tasks without a key to compare with give no grade."""
    return bool(row["verified"]) and row["task"] in GRADED_TASKS and "truncated" not in row["flags"]


def grade(rows: Sequence[Row], flex_share: float | None) -> Grade:
    """The grade of one configuration from its rows, one a task, and the share of its power that it can give up."""
    graded = [row for row in rows if is_graded(row)]
    if not graded:
        return Grade({}, None)
    capability_pct = _capability_pct(graded)
    found = {
        "capability_pct": capability_pct,
        "capability_stars": _stars(capability_pct, CAPABILITY_PCT),
        "efficiency_stars": _stars(_middle(graded, "efficiency_index"), EFFICIENCY_INDEX),
        "speed_stars": _stars(_middle(graded, "pooled_tokens_per_second"), TOKENS_PER_SECOND),
        "smoothness_stars": _stars(_middle(graded, "gpu_power_cv"), POWER_CV),
        "flexibility_stars": _stars(flex_share, FLEX_SHARE),
        "footprint_stars": _stars(_most(graded, "peak_gpu_mem_used_mib"), MEMORY_MIB),
    }
    return Grade(found, _letter(found))


def _capability_pct(rows: Sequence[Row]) -> float | None:
    accuracies = [row["accuracy"] for row in rows if row["accuracy"] is not None]
    return 100 * fmean(accuracies) if len(accuracies) >= MIN_TASKS else None


def _middle(rows: Sequence[Row], name: str) -> float | None:
    values = [row[name] for row in rows if row[name] is not None]
    return median_low(values) if values else None


def _most(rows: Sequence[Row], name: str) -> float | None:
    return max((row[name] for row in rows if row[name] is not None), default=None)


def _stars(value: float | None, bounds: Sequence[float]) -> float | None:
    if value is None:
        return None
    rising = bounds[0] < bounds[-1]
    return 1.0 + sum(value >= bound if rising else value <= bound for bound in bounds)


def _letter(found: Mapping[str, float | None]) -> str | None:
    if any(found[name] is None for name in LETTER_NEEDS):
        return None
    mean = fmean(stars for name, stars in found.items() if name.endswith("_stars") and stars is not None)
    return next((letter for least, letter in LETTERS if mean >= least), LOWEST_LETTER)
