"""What the methodology page says, read from the code that does it."""

from dataclasses import dataclass
from typing import Any

from asyncenergy_controller.metrics import (
    METHODOLOGY_VERSION,
    answers,
    costmodel,
    energy,
    intervals,
    ledger,
    pooling,
    readings,
    sampling,
    sweeps,
    tiers,
    totals,
)

from bench import grading
from bench.configuration import CLAIMED
from bench.pages.sources import Code, Function, function, limits
from bench.pages.words import BOUNDARIES, SETTINGS, SOURCES
from bench.pooling import SPREAD_MARK_PCT
from bench.verification import FLAGS, QUARANTINE


@dataclass(frozen=True, slots=True)
class Tier:
    """A letter, what it says in a word, and the conditions a run must meet for it."""

    letter: str
    words: str
    conditions: list[str]


@dataclass(frozen=True, slots=True)
class Chapter:
    """Formulas of one kind with the limits they hold to."""

    anchor: str
    title: str
    limits: list[tuple[str, float]]
    functions: list[Function]


@dataclass(frozen=True, slots=True)
class Grade:
    """Bounds of 2, 3, 4 and 5 stars."""

    name: str
    by: str
    bounds: tuple[float, ...]


_CHAPTERS: tuple[tuple[str, tuple[Code, ...]], ...] = (
    (
        "Energy from samples and counters",
        (totals.integrate_power_j, totals.counter_energy_j, totals.wrapping_counter_energy_j, energy.item_energies_j),
    ),
    ("Readings against each other", (readings.energy_figures, readings.wall_figures, readings.drift_pct)),
    ("Answers, tokens and speed", (answers.answer_figures, answers.speed_figures, answers.cost_figures)),
    (
        "How sure a figure is",
        (intervals.wilson_interval, intervals.bootstrap_jpc_interval, intervals.widen_between_machines),
    ),
    ("Gross to net", (ledger.ledger_figures,)),
    ("Cost of an answer by its length", (costmodel.fit_cost_model,)),
    ("How well a run was sampled", (sampling.coverage, sampling.share_with_bits_pct, sampling.phase_lock_r)),
    (
        "Medians, ranks and the frontier",
        (pooling.median_index, pooling.pooled_accuracy, pooling.shared_ranks, pooling.pareto_front),
    ),
    ("What a sweep tells", (sweeps.flexibility,)),
    ("Which tier", (tiers.derive_tier,)),
)


def context() -> dict[str, Any]:
    """Everything the methodology page shows."""
    return {
        "version": METHODOLOGY_VERSION,
        "claimed": CLAIMED,
        "tiers": tier_rules(),
        "chapters": [chapter(*entry) for entry in _CHAPTERS],
        "sources": SOURCES,
        "boundaries": BOUNDARIES,
        "settings": list(SETTINGS.values()),
        "n_quarantine": len(QUARANTINE),
        "n_flags": len(FLAGS),
        "spread_mark_pct": SPREAD_MARK_PCT,
        "totals": totals,
        "intervals": intervals,
        "edition": grading.EDITION,
        "min_tasks": grading.MIN_TASKS,
        "grades": grades(),
        "letters": [*grading.LETTERS, (0.0, grading.LOWEST_LETTER)],
        "least_share_pct": 100 * intervals.MAX_SHARE_WITHOUT_CORRECT,
        "gain_pct": 100 * intervals.BETWEEN_MACHINES_GAIN,
    }


def grades() -> list[Grade]:
    """What each kind of star asks, from two stars on; one star is everything below."""
    return [
        Grade("Capability", "mean accuracy over graded tasks (%)", grading.CAPABILITY_PCT),
        Grade(
            "Efficiency",
            "J per correct answer of the reference on the same machine over this one’s",
            grading.EFFICIENCY_INDEX,
        ),
        Grade("Speed", "tokens per second, pooled", grading.TOKENS_PER_SECOND),
        Grade("Smoothness", "spread of the power over its mean, at most", grading.POWER_CV),
        Grade("Flexibility", "share of stock power given up at 95 % of the speed", grading.FLEX_SHARE),
        Grade("Footprint", "memory in use (MiB), at most", grading.MEMORY_MIB),
    ]


def chapter(title: str, functions: tuple[Code, ...]) -> Chapter:
    anchor = title.lower().replace(",", "").replace(" ", "-")
    return Chapter(anchor, title, limits(functions), [function(code) for code in functions])


def tier_rules() -> list[Tier]:
    """The conditions with the limits that the code checks."""
    return [
        Tier(
            "A",
            "All three readings agree",
            [
                "Everything that tier B asks.",
                "Counter and integrated power are both there and differ by at most "
                f"{tiers.MAX_DRIFT_PCT:g} %, or by twice the sampling error of the integral.",
                "No sample in which heat or the power brake slowed the device.",
                f"At least {tiers.MIN_COVERAGE_PCT:g} % of the run is sampled, without a hole over "
                f"{tiers.MAX_GAP_S:g} s.",
                f"The run lasts at least {tiers.MIN_DURATION_S:g} s.",
                "Both baselines of the same session: the empty device, and the loaded, waiting model.",
                "No other process used the device.",
            ],
        ),
        Tier(
            "B",
            "A wall meter beside the device",
            [
                "Everything that tier C asks.",
                f"A wall meter covered at least {tiers.MIN_WALL_COVERAGE_PCT:g} % of the run at 2 s or finer.",
                f"In {tiers.MIN_WALL_ABOVE_GPU_PCT:g} % of the 10 s means, and in total, the wall drew at least "
                "what the device reports.",
            ],
        ),
        Tier("C", "The device’s own word", ["The device reported its own energy over the whole run."]),
    ]
