"""Every formula of the product, pure: from samples and scores to joules per correct answer."""

from .costmodel import CostItems, CostModel, cost_items, fit_cost_model, fit_or_reason
from .energy import (
    CounterReading,
    counter_energy_j,
    integrate_power_j,
    item_energies_j,
    unwrap_uj,
    wrapping_counter_energy_j,
)
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
from .sampling import PHASE_LOCKED_ABOVE, THERMAL_THROTTLE, phase_lock_r
from .sweeps import Flexibility, SweepPoint, deepest_keeping, flexibility
from .tiers import TierEvidence, derive_tier

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
