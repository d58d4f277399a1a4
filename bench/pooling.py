"""How runs become a row of the board. Pure: no Django, no I/O.

A machine's value is its median run; a row shows its median machine, and every figure of energy and
speed comes from that one run. Accuracy is pooled over distinct items, since every machine answers the same ones.
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from asyncenergy_controller.metrics import Standing, median_index, pooled_accuracy, shared_ranks, widen_between_machines

SPREAD_MARK_PCT = 10.0
REFERENCE_SUITE = "reference"
FROM_MACHINE = (
    "joules_per_correct_answer",
    "jpc_ci_low",
    "jpc_ci_high",
    "joules_per_token",
    "pooled_tokens_per_second",
    "mean_gpu_w",
    "accuracy",
    "accuracy_ci_low",
    "accuracy_ci_high",
)

FROM_CONFIG = (
    "model",
    "quantization",
    "engine",
    "engine_version",
    "gpu_class",
    "power_limit_w",
    "clock_lock_mhz",
    "thinking_mode",
    "concurrency",
    "energy_boundary",
)
FROM_MEDIAN_RUN = (
    "joules_per_correct_answer",
    "jpc_ci_low",
    "jpc_ci_high",
    "joules_per_token",
    "joules_per_item",
    "pooled_tokens_per_second",
    "ttft_p50_s",
    "energy_source",
    "net_jpc",
    "mean_gpu_w",
    "gpu_power_cv",
    "peak_gpu_mem_used_mib",
)
NEEDED = (*FROM_MEDIAN_RUN, "accuracy", "accuracy_ci_low", "accuracy_ci_high", "n_items", "n_correct")
UNSETTLED: dict[str, Any] = {
    "rank": None,
    "is_pareto": False,
    "efficiency_index": None,
    "grades": {},
    "letter_grade": None,
}


@dataclass(frozen=True, slots=True)
class Measured:
    """One published run, as far as the board needs it: of its figures those in NEEDED. `scores` maps a question to
    its score; None where the run brought no items. `node` is the machine's public name."""

    run_id: str
    machine: str
    node: str | None
    account: Hashable
    is_counted: bool
    config_key: str
    config: Mapping[str, Any]
    task: str | None
    suite: str
    methodology: str
    verified: bool
    tier: str | None
    correctness_word: str
    figures: Mapping[str, Any]
    stock_limit_w: float | None
    marks: Sequence[Mapping[str, str]]
    received: str
    updated: str
    scores: Mapping[Hashable, float] | None = field(default=None)

    @property
    def value(self) -> float | None:
        """The headline, J per correct answer; None where nothing was right or the energy is unknown."""
        return self.figures.get("joules_per_correct_answer")


def median(runs: Sequence[Measured]) -> Measured:
    """The median run by its headline; of two the worse, and an undefined headline is worse than any."""
    ordered = sorted(runs, key=lambda run: run.run_id)
    return ordered[median_index([math.inf if run.value is None else run.value for run in ordered])]


def row(runs: Sequence[Measured]) -> dict[str, Any]:
    """The row of one configuration on one task, as every reader gets it, still without its rank."""
    by_machine = grouped(runs)
    machines = [median(group) for group in by_machine.values()]
    shown = median(machines)
    return {
        "config_key": shown.config_key,
        "task": shown.task,
        **{name: shown.config.get(name) for name in FROM_CONFIG},
        **{name: shown.figures.get(name) for name in FROM_MEDIAN_RUN},
        **_widened(shown.figures),
        **_spread(machines),
        **_accuracy(runs, shown),
        **_counts(runs, by_machine),
        "tier": shown.tier,
        "verified": shown.verified,
        "correctness_word": shown.correctness_word,
        "methodology_version": shown.methodology,
        "marks": (marks := [*map(dict, shown.marks), *_spread_mark(machines, shown)]),
        "flags": [mark["code"] for mark in marks],
        **UNSETTLED,
        "run_id": shown.run_id,
        "latest_run_id": max(runs, key=lambda run: (run.received, run.run_id)).run_id,
        "updated_at": max(run.updated for run in runs),
    }


def grouped(runs: Iterable[Measured]) -> dict[str, list[Measured]]:
    """Runs by machine."""
    by_machine: dict[str, list[Measured]] = defaultdict(list)
    for run in runs:
        by_machine[run.machine].append(run)
    return by_machine


def machines(runs: Iterable[Measured]) -> list[dict[str, Any]]:
    """What each machine measured, its median run, to compare rows on one machine. `machine` is no public name."""
    return [_machine(group) for _, group in sorted(grouped(runs).items())]


def _machine(group: Sequence[Measured]) -> dict[str, Any]:
    shown = median(group)
    reference = [run for run in group if run.suite == REFERENCE_SUITE]
    return {
        "machine": shown.machine,
        "node": shown.node,
        "run_id": shown.run_id,
        **{name: shown.figures.get(name) for name in FROM_MACHINE},
        "reference_jpc": median(reference).value if reference else None,
        "stock_limit_w": shown.stock_limit_w,
    }


def _widened(figures: Mapping[str, Any]) -> dict[str, float | None]:
    value, low, high = (figures.get(name) for name in ("joules_per_correct_answer", "jpc_ci_low", "jpc_ci_high"))
    if value is None or low is None or high is None:
        return {"jpc_wide_low": None, "jpc_wide_high": None}
    wide_low, wide_high = widen_between_machines(value, low, high)
    return {"jpc_wide_low": wide_low, "jpc_wide_high": wide_high}


def _values(machines: Sequence[Measured]) -> list[float]:
    return [run.value for run in machines if run.value is not None]


def _spread(machines: Sequence[Measured]) -> dict[str, float | None]:
    values = _values(machines)
    low, high = (min(values), max(values)) if values else (None, None)
    several = len(values) > 1
    return {
        "jpc_min": low,
        "jpc_max": high,
        "spread_min": low if several else None,
        "spread_max": high if several else None,
    }


def _spread_mark(machines: Sequence[Measured], shown: Measured) -> list[dict[str, str]]:
    values = _values(machines)
    if len(values) < 2 or not shown.value:
        return []
    pct = 100 * (max(values) - min(values)) / shown.value
    if pct < SPREAD_MARK_PCT:
        return []
    sentence = (
        f"{len(values)} machines lie between {min(values):.1f} and {max(values):.1f} J per correct answer "
        f"({pct:.0f} % of the one shown)."
    )
    return [{"code": "spread", "label": f"spread {pct:.0f} %", "sentence": sentence}]


def _accuracy(runs: Sequence[Measured], shown: Measured) -> dict[str, float | int | None]:
    """Pooled over distinct questions where the runs brought their items, else the shown run's own."""
    numbers: dict[Hashable, int] = {}
    scored = (
        (numbers.setdefault(item, len(numbers)), score) for run in runs for item, score in (run.scores or {}).items()
    )
    pooled = pooled_accuracy(scored)
    if pooled is None:
        own = ("accuracy", "accuracy_ci_low", "accuracy_ci_high", "n_items", "n_correct")
        return {name: shown.figures.get(name) for name in own}
    return {
        "accuracy": pooled.accuracy,
        "accuracy_ci_low": pooled.low,
        "accuracy_ci_high": pooled.high,
        "n_items": pooled.n_items,
        "n_correct": round(pooled.accuracy * pooled.n_items),
    }


def _counts(runs: Sequence[Measured], by_machine: Mapping[str, Sequence[Measured]]) -> dict[str, int]:
    return {
        "n_runs": len(runs),
        "n_nodes": len(by_machine),
        "n_unique_submitters": sum(group[0].is_counted for group in by_machine.values()),
        "n_accounts": len({run.account for run in runs}),
    }


def standings(rows: Sequence[Mapping[str, Any]]) -> list[tuple[int | None, float | None]]:
    """Rank and sort value of each row of one task. The sort value is the headline, except that rows of claimed
    figures stand behind the verified ones of their rank."""
    shown = [Standing(row["joules_per_correct_answer"], row["jpc_ci_low"], row["jpc_ci_high"]) for row in rows]
    ranks = shared_ranks(shown)
    last_verified: dict[int, float] = {}
    for row, rank, standing in zip(rows, ranks, shown, strict=True):
        if rank is not None and row["verified"]:
            last_verified[rank] = max(last_verified.get(rank, 0.0), standing.value or 0.0)
    return [
        (rank, _place(row, rank, standing.value, last_verified))
        for row, rank, standing in zip(rows, ranks, shown, strict=True)
    ]


def _place(
    row: Mapping[str, Any], rank: int | None, value: float | None, last_verified: Mapping[int, float]
) -> float | None:
    if value is None or rank is None or row["verified"]:
        return value
    return max(value, last_verified.get(rank, value))
