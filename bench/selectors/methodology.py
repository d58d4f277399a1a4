"""How each number is made, in the words of the code that makes it."""

from collections.abc import Callable
from inspect import getdoc
from typing import Any

from asyncenergy_controller import metrics

from bench import grading
from bench.verification import GATES

HEADLINE = (
    "Joules per correct answer = energy of the run / number of items answered correctly. The energy runs from the "
    "start of the first item to the end of the last; warm-up and idle around it are no part of it. "
    "None correct: undefined."
)
BOUNDARIES = {
    "gpu_board": "the GPU boards alone, by their own sensor",
    "cpu_package": "the processor package alone",
    "soc": "the whole chip: processor, GPU and memory",
    "wall": "the whole machine at the wall socket",
}
TIERS = {
    "A": "counter, integration and wall meter agree, with baselines, full coverage and no other process on the device",
    "B": "energy that the device reports, and a wall meter that covers it and lies above it",
    "C": "energy that the device reports, alone",
}
FORMULAS: dict[str, Callable[..., Any]] = {
    "integration": metrics.integrate_power_j,
    "counter": metrics.counter_energy_j,
    "item_energy": metrics.item_energies_j,
    "interval_of_the_headline": metrics.bootstrap_jpc_interval,
    "interval_of_accuracy": metrics.wilson_interval,
    "cost_model": metrics.fit_cost_model,
    "median_machine": metrics.median_index,
    "pooled_accuracy": metrics.pooled_accuracy,
    "shared_ranks": metrics.shared_ranks,
    "frontier": metrics.pareto_front,
    "efficiency_index": metrics.efficiency_index,
    "flexibility": metrics.flexibility,
    "tier": metrics.derive_tier,
}


def methodology() -> dict[str, Any]:
    """Version, definitions, formulas, gates and thresholds."""
    return {
        "methodology_version": metrics.METHODOLOGY_VERSION,
        "headline": HEADLINE,
        "boundaries": BOUNDARIES,
        "tiers": TIERS,
        "formulas": {name: getdoc(formula) for name, formula in FORMULAS.items()},
        "gates": [{"code": gate.code, "severity": gate.severity.value, "rule": gate.rule} for gate in GATES],
        "grading": grading.thresholds(),
    }
