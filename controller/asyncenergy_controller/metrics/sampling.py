"""How well a run was sampled, and what happened to the device meanwhile."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .columns import Array
from .recording import Recording
from .throttling import SW_POWER_CAP, THERMAL_THROTTLE

HOLE_PERIODS = 2.0
MIN_PHASE_LOCK_ITEMS = 10
PHASE_LOCKED_ABOVE = 0.5


class Coverage(NamedTuple):
    """How much of a window was sampled; all None where nothing was."""

    coverage_pct: float | None
    longest_gap_s: float | None
    hole_count: int | None


@dataclass(frozen=True, kw_only=True)
class SamplingFigures:
    """Coverage and holes of the window, throttling in % of samples, phase lock 0..1."""

    coverage_pct: float | None
    longest_gap_s: float | None
    hole_count: int | None
    thermal_throttle_pct: float | None
    power_cap_throttle_pct: float | None
    other_processes: int | None
    phase_lock_r: float | None


def sampling_figures(recording: Recording) -> SamplingFigures:
    """Gaps are those between valid samples of power, or of the counter where no power was sampled."""
    masks = recording.in_window("throttle_mask").astype(np.int64)
    others = recording.in_window("other_processes")
    return SamplingFigures(
        **_coverage(recording)._asdict(),
        thermal_throttle_pct=share_with_bits_pct(masks, THERMAL_THROTTLE),
        power_cap_throttle_pct=share_with_bits_pct(masks, SW_POWER_CAP),
        other_processes=int(others.max()) if others.size else None,
        phase_lock_r=phase_lock_r(recording.item("t_start_s"), recording.sensor("counter_period_s")),
    )


def coverage(gaps_s: Array, period_s: float) -> Coverage:
    """Of gaps that together make up a window: the share without what each exceeds two periods, the longest, the
    number of those over two periods."""
    too_long = gaps_s > HOLE_PERIODS * period_s * (1 + 1e-6)
    missing_s = (gaps_s[too_long] - HOLE_PERIODS * period_s).sum()
    return Coverage(float(100 * (1 - missing_s / gaps_s.sum())), float(gaps_s.max()), int(too_long.sum()))


def share_with_bits_pct(masks: npt.NDArray[np.int64], bits: int) -> float | None:
    """Share of samples with any of these bits, None without samples."""
    return float(100 * ((masks & bits) != 0).mean()) if masks.size else None


def phase_lock_r(starts_s: Array, period_s: float | None) -> float | None:
    """|mean exp(2πi start / period)|: 1 when all items start at one phase of the counter, near 0 when at any.

    Items that start together (a batch) count once: they are one instant, not many that agree.
    """
    starts_s = np.unique(starts_s[~np.isnan(starts_s)])
    if not period_s or starts_s.size < MIN_PHASE_LOCK_ITEMS:
        return None
    return float(np.abs(np.exp(2j * np.pi * starts_s / period_s).mean()))


def _coverage(recording: Recording) -> Coverage:
    """Gaps are cut at the window's edges, but for the longest: an edge in a hole was not seen. The period is the usual
    step of the trace."""
    power = recording.sample("gpu_power_w")
    reading = recording.best if np.isnan(power).all() else recording.integration
    if recording.window is None or reading.channel is None:
        return Coverage(None, None, None)
    times_s, (start_s, end_s) = reading.channel.t_s, recording.window
    inside_s = times_s[(times_s > start_s) & (times_s < end_s)]
    gaps_s = np.diff(np.concatenate(([start_s], inside_s, [end_s])))
    found = coverage(gaps_s, float(np.median(np.diff(recording.t_s))))
    return found._replace(longest_gap_s=max(float(gaps_s.max()), reading.channel.longest_gap_s(start_s, end_s)))
