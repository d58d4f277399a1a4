"""Every formula of the product, pure: from samples and scores to joules per correct answer.

A name loads its module, and with it numpy, when it is first asked for: `totals`, `throttling` and `reasons` need none.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .costmodel import CostItems, CostModel, cost_items, fit_cost_model, fit_or_reason
    from .energy import item_energies_j
    from .figures import METHODOLOGY_VERSION, RunFigures, recompute_run
    from .intervals import bootstrap_jpc_interval, widen_between_machines, wilson_interval
    from .ledger import LedgerEntry
    from .pooling import (
        PooledAccuracy,
        Standing,
        efficiency_index,
        median_index,
        overlap,
        pareto_front,
        pooled_accuracy,
        shared_ranks,
    )
    from .readings import drift_pct
    from .reasons import REASONS
    from .sampling import PHASE_LOCKED_ABOVE, phase_lock_r
    from .sweeps import Flexibility, SweepPoint, deepest_keeping, flexibility
    from .throttling import THERMAL_THROTTLE
    from .tiers import TierEvidence, derive_tier
    from .totals import CounterReading, counter_energy_j, integrate_power_j, unwrap_uj, wrapping_counter_energy_j

__all__ = [
    "METHODOLOGY_VERSION",
    "PHASE_LOCKED_ABOVE",
    "REASONS",
    "THERMAL_THROTTLE",
    "CostItems",
    "CostModel",
    "CounterReading",
    "Flexibility",
    "LedgerEntry",
    "PooledAccuracy",
    "RunFigures",
    "Standing",
    "SweepPoint",
    "TierEvidence",
    "bootstrap_jpc_interval",
    "cost_items",
    "counter_energy_j",
    "deepest_keeping",
    "derive_tier",
    "drift_pct",
    "efficiency_index",
    "fit_cost_model",
    "fit_or_reason",
    "flexibility",
    "integrate_power_j",
    "item_energies_j",
    "median_index",
    "overlap",
    "pareto_front",
    "phase_lock_r",
    "pooled_accuracy",
    "recompute_run",
    "shared_ranks",
    "unwrap_uj",
    "widen_between_machines",
    "wilson_interval",
    "wrapping_counter_energy_j",
]

_HOMES = {
    name: module
    for module, names in {
        "costmodel": ("CostItems", "CostModel", "cost_items", "fit_cost_model", "fit_or_reason"),
        "energy": ("item_energies_j",),
        "figures": ("METHODOLOGY_VERSION", "RunFigures", "recompute_run"),
        "intervals": ("bootstrap_jpc_interval", "widen_between_machines", "wilson_interval"),
        "ledger": ("LedgerEntry",),
        "pooling": (
            "PooledAccuracy",
            "Standing",
            "efficiency_index",
            "median_index",
            "overlap",
            "pareto_front",
            "pooled_accuracy",
            "shared_ranks",
        ),
        "readings": ("drift_pct",),
        "reasons": ("REASONS",),
        "sampling": ("PHASE_LOCKED_ABOVE", "phase_lock_r"),
        "sweeps": ("Flexibility", "SweepPoint", "deepest_keeping", "flexibility"),
        "throttling": ("THERMAL_THROTTLE",),
        "tiers": ("TierEvidence", "derive_tier"),
        "totals": ("CounterReading", "counter_energy_j", "integrate_power_j", "unwrap_uj", "wrapping_counter_energy_j"),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
