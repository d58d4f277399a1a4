"""Which tier a run has earned, by rule, and in words why not a higher one."""

from dataclasses import dataclass
from typing import Literal

Tier = Literal["A", "B", "C"]

MIN_WALL_COVERAGE_PCT = 75.0
MIN_WALL_ABOVE_GPU_PCT = 95.0
MAX_DRIFT_PCT = 3.0
MIN_COVERAGE_PCT = 95.0
MAX_GAP_S = 1.0
MIN_DURATION_S = 60.0


@dataclass(frozen=True, kw_only=True)
class TierEvidence:
    """What the tier rests on; None = not known, which never speaks for a run.

    `beside_wall_j` is what the device drew while the wall drew `wall_j`, where that is not the whole window.
    """

    energy_source: str | None
    energy_boundary: str | None = None
    best_j: float | None
    counter_j: float | None = None
    counter_reason: str | None = None
    integrated_j: float | None = None
    drift_pct: float | None = None
    drift_standard_error_pct: float | None = None
    thermal_throttle_pct: float | None = None
    coverage_pct: float | None = None
    longest_gap_s: float | None = None
    duration_s: float | None = None
    idle_empty_w: float | None = None
    idle_loaded_w: float | None = None
    other_processes: int | None = None
    wall_j: float | None = None
    beside_wall_j: float | None = None
    wall_coverage_pct: float | None = None
    wall_above_gpu_pct: float | None = None


def derive_tier(evidence: TierEvidence) -> tuple[Tier | None, tuple[str, ...]]:
    """The tier and the conditions that the next higher one lacks, as sentences. None: no energy read on the device."""
    if missing := _missing_for_c(evidence):
        return None, tuple(missing)
    if missing := _missing_for_b(evidence):
        return "C", tuple(missing)
    if missing := _missing_for_a(evidence):
        return "B", tuple(missing)
    return "A", ()


def _missing_for_c(e: TierEvidence) -> list[str]:
    if e.energy_source == "simulated":
        return ["The energy is simulated, not measured."]
    if e.best_j is None:
        return ["No energy was measured over the items' window."]
    return ["Only the wall was measured, not the device."] if e.energy_boundary == "wall" else []


def _missing_for_b(e: TierEvidence) -> list[str]:
    missing = []
    if e.counter_reason == "counter_unsupported":
        missing.append("The device has no energy counter.")
    if e.wall_coverage_pct is None:
        return [*missing, "No wall meter was read."]
    if e.wall_coverage_pct < MIN_WALL_COVERAGE_PCT:
        missing.append(
            f"The wall meter covered {e.wall_coverage_pct:.1f} % of the window at 2 s or finer; "
            f"tier B needs {MIN_WALL_COVERAGE_PCT:g} %."
        )
    if e.wall_above_gpu_pct is None or e.wall_above_gpu_pct < MIN_WALL_ABOVE_GPU_PCT:
        missing.append(
            f"The wall drew at least what the device did in {_said(e.wall_above_gpu_pct, '%')} of the 10 s means; "
            f"tier B needs {MIN_WALL_ABOVE_GPU_PCT:g} %."
        )
    device_j = e.best_j if e.beside_wall_j is None else e.beside_wall_j
    if e.wall_j is None or device_j is None or e.wall_j < device_j:
        missing.append(f"In total the wall drew {_said(e.wall_j, 'J')}, the device {_said(device_j, 'J')}.")
    return missing


def _missing_for_a(e: TierEvidence) -> list[str]:
    conditions = (
        (e.counter_j is not None and e.integrated_j is not None, "Counter and integration are not both there."),
        (_drift_is_small(e), _drift_sentence(e)),
        (e.thermal_throttle_pct == 0, f"Thermally throttled in {_said(e.thermal_throttle_pct, '%')} of the samples."),
        (
            e.coverage_pct is not None and e.coverage_pct >= MIN_COVERAGE_PCT,
            f"Sampling covered {_said(e.coverage_pct, '%')}; tier A needs {MIN_COVERAGE_PCT:g} %.",
        ),
        (
            e.longest_gap_s is not None and e.longest_gap_s <= MAX_GAP_S,
            f"The longest hole is {_said(e.longest_gap_s, 's')}; tier A allows {MAX_GAP_S:g} s.",
        ),
        (
            e.duration_s is not None and e.duration_s >= MIN_DURATION_S,
            f"The window is {_said(e.duration_s, 's')} long; tier A needs {MIN_DURATION_S:g} s.",
        ),
        (e.idle_empty_w is not None, "There is no baseline of the empty device from this session."),
        (e.idle_loaded_w is not None, "There is no baseline of the loaded, idle model from this session."),
        (e.other_processes == 0, _others_sentence(e.other_processes)),
    )
    return [sentence for holds, sentence in conditions if not holds]


def _drift_is_small(e: TierEvidence) -> bool:
    if e.drift_pct is None:
        return False
    return abs(e.drift_pct) <= max(MAX_DRIFT_PCT, 2 * (e.drift_standard_error_pct or 0.0))


def _drift_sentence(e: TierEvidence) -> str:
    return (
        f"Integration and counter differ by {_said(e.drift_pct, '%')}; tier A allows {MAX_DRIFT_PCT:g} % "
        f"or twice the sampling error ({_said(e.drift_standard_error_pct, '%')})."
    )


def _others_sentence(count: int | None) -> str:
    if count is None:
        return "Whether another process used the device is not known."
    return f"{count} other process(es) used the device during the run."


def _said(value: float | None, unit: str) -> str:
    return "an unknown amount" if value is None else f"{value:,.2f} {unit}"
