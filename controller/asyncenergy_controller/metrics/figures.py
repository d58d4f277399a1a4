"""Every figure of a run, derived from its items and its trace: the same on the box and on the server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .answers import AnswerFigures, CostFigures, SpeedFigures, answer_figures, cost_figures, speed_figures
from .columns import Array
from .costmodel import CostModel, cost_items, fit_or_reason
from .device import DeviceFigures, device_figures
from .ledger import LedgerFigures, ledger_figures
from .readings import EnergyFigures, WallFigures, energy_figures, wall_figures
from .recording import Recording
from .sampling import SamplingFigures, sampling_figures
from .tiers import Tier, TierEvidence, derive_tier

METHODOLOGY_VERSION = "3"


@dataclass(frozen=True, kw_only=True)
class RunFigures(
    EnergyFigures,
    WallFigures,
    AnswerFigures,
    SpeedFigures,
    CostFigures,
    LedgerFigures,
    SamplingFigures,
    DeviceFigures,
):
    """All derived figures of one run; None is "not measured", with a reason beside it where one is known."""

    cost_model: CostModel | None
    cost_model_reason: str | None
    tier: Tier | None
    tier_reasons: tuple[str, ...]


def recompute_run(run: Mapping[str, Any], *, baselines: Sequence[Mapping[str, Any]] = ()) -> RunFigures:
    """Derive every figure of a version-3 run (items and trace as columns); absent optional columns give None.

    A column of numbers may be a list or an array, where NaN is missing. `baselines` are the bundle's: used where the
    run's own ledger holds no idle phase. Claimed figures in the run are not read. Raises ValueError for columns of
    different length, times that do not rise, an item or phase that ends before it starts, scores outside 0..1,
    or a number of the sensor that is none.
    """
    recording = Recording.of(run)
    energy, answers, speed = energy_figures(recording), answer_figures(recording), speed_figures(recording)
    best_j = energy.total_joules_gpu_best
    cost = cost_figures(recording, best_j, answers, speed)
    sampling, wall = sampling_figures(recording), wall_figures(recording)
    ledger = ledger_figures(recording, best_j, answers.n_correct, baselines)
    model, model_reason = _cost_model(recording, np.array(cost.item_energy_j, dtype=np.float64))
    tier, tier_reasons = derive_tier(_evidence(recording, energy, wall, sampling, ledger))
    parts = (energy, wall, answers, speed, cost, ledger, sampling, device_figures(recording))
    return RunFigures(
        **{name: value for part in parts for name, value in vars(part).items()},
        cost_model=model,
        cost_model_reason=model_reason,
        tier=tier,
        tier_reasons=tier_reasons,
    )


def _cost_model(recording: Recording, item_energy_j: Array) -> tuple[CostModel | None, str | None]:
    settings: Mapping[str, Any] = recording.run.get("settings") or {}
    items, reason = cost_items(recording.run.get("items") or {}, item_energy_j, settings.get("prefix_cache"))
    return fit_or_reason(*items) if items else (None, reason)


def _evidence(
    recording: Recording,
    energy: EnergyFigures,
    wall: WallFigures,
    sampling: SamplingFigures,
    ledger: LedgerFigures,
) -> TierEvidence:
    wall_j, beside_wall_j = recording.wall_beside_device
    return TierEvidence(
        energy_source=energy.energy_source,
        energy_boundary=recording.run.get("energy_boundary"),
        best_j=energy.total_joules_gpu_best,
        counter_j=energy.total_joules_gpu_counter,
        counter_reason=energy.counter_reason,
        integrated_j=energy.total_joules_gpu,
        drift_pct=energy.counter_vs_integration_pct_diff,
        drift_standard_error_pct=energy.drift_standard_error_pct,
        thermal_throttle_pct=sampling.thermal_throttle_pct,
        coverage_pct=sampling.coverage_pct,
        longest_gap_s=sampling.longest_gap_s,
        duration_s=energy.run_duration_s,
        idle_empty_w=ledger.idle_empty_w,
        idle_loaded_w=ledger.idle_loaded_w,
        other_processes=sampling.other_processes,
        wall_j=float(wall_j.sum()) if wall_j.size else None,
        beside_wall_j=float(beside_wall_j.sum()) if wall_j.size else None,
        wall_coverage_pct=wall.wall_coverage_pct,
        wall_above_gpu_pct=wall.wall_above_gpu_pct,
    )
