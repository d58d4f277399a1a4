"""The three independent readings of a run's energy over the items' window, and how far they agree."""

from dataclasses import dataclass

import numpy as np

from .columns import number
from .recording import Reading, Recording
from .totals import NAMED_SOURCES, named_source

WALL_STEP_S = 2.0
WALL_STEP_TOLERANCE = 1.05  # a plug polled every 2 s answers a little early or late
WALL_SPIKE_FACTOR = 3.0


@dataclass(frozen=True, kw_only=True)
class EnergyFigures:
    """Energy of the device over the window, in J; drift in % of the counter."""

    run_duration_s: float | None
    total_joules_gpu: float | None
    integration_reason: str | None
    total_joules_gpu_counter: float | None
    counter_reason: str | None
    total_joules_gpu_best: float | None
    energy_source: str | None
    energy_reason: str | None
    counter_vs_integration_pct_diff: float | None
    drift_standard_error_pct: float | None
    mean_gpu_w: float | None
    cpu_joules: float | None
    cpu_reason: str | None


@dataclass(frozen=True, kw_only=True)
class WallFigures:
    """What the wall meter saw over the window, and whether it can hold the device's energy."""

    wall_joules: float | None
    wall_reason: str | None
    wall_coverage_pct: float | None
    mean_wall_w: float | None
    peak_wall_w: float | None
    wall_spike_count: int | None
    wall_above_gpu_pct: float | None
    node_overhead_ratio: float | None


def energy_figures(recording: Recording) -> EnergyFigures:
    """Counter and integration over the window, the better of them, and the drift between them."""
    integrated_j, integration_reason = over_window(recording, recording.integration)
    counter_j, counter_reason = over_window(recording, recording.counter)
    best_j, energy_reason = over_window(recording, recording.best)
    cpu_j, cpu_reason = over_window(recording, recording.cpu_counter)
    return EnergyFigures(
        run_duration_s=recording.duration_s,
        total_joules_gpu=integrated_j,
        integration_reason=integration_reason,
        total_joules_gpu_counter=counter_j,
        counter_reason=counter_reason,
        total_joules_gpu_best=best_j,
        energy_source=_energy_source(recording, best_j),
        energy_reason=energy_reason,
        counter_vs_integration_pct_diff=drift_pct(integrated_j, counter_j),
        drift_standard_error_pct=_drift_standard_error_pct(recording, integrated_j, counter_j),
        mean_gpu_w=ratio(best_j, recording.duration_s),
        cpu_joules=cpu_j,
        cpu_reason=cpu_reason,
    )


def wall_figures(recording: Recording) -> WallFigures:
    """The wall reading; no sample is dropped for being high."""
    device_j = None if recording.best is recording.wall else over_window(recording, recording.best)[0]
    wall_j, reason = over_window(recording, recording.wall)
    samples = recording.in_window("wall_power_w")
    spikes = int((samples > WALL_SPIKE_FACTOR * np.median(samples)).sum()) if samples.size else None
    return WallFigures(
        wall_joules=wall_j,
        wall_reason=reason,
        wall_coverage_pct=_wall_coverage_pct(recording),
        mean_wall_w=ratio(wall_j, recording.duration_s),
        peak_wall_w=number(samples.max()) if samples.size else None,
        wall_spike_count=spikes,
        wall_above_gpu_pct=_wall_above_device_pct(recording),
        node_overhead_ratio=ratio(wall_j, device_j),
    )


def over_window(recording: Recording, reading: Reading) -> tuple[float | None, str | None]:
    """Joules of a reading over the items' window, or None and why."""
    if recording.window is None:
        return None, "no_items_window"
    return reading.between(*recording.window)


def drift_pct(integrated_j: float | None, counter_j: float | None) -> float | None:
    """100 * (integration - counter) / counter; None unless both readings are there."""
    if integrated_j is None or not counter_j:
        return None
    return 100 * (integrated_j - counter_j) / counter_j


def ratio(numerator: float | None, denominator: float | None) -> float | None:
    """A quotient, None where a part was not measured or the divisor is 0."""
    return None if numerator is None or not denominator else numerator / denominator


def _energy_source(recording: Recording, best_j: float | None) -> str | None:
    claimed = recording.run.get("energy_source")
    if best_j is None and claimed not in NAMED_SOURCES:
        return None
    return named_source(claimed, is_counter=recording.best.is_counter)


def _drift_standard_error_pct(
    recording: Recording, integrated_j: float | None, counter_j: float | None
) -> float | None:
    """Sampling error of the integral in % of the counter.

    The noise of one sample comes from the differences of neighbours, so that a slow change of the load is no noise.
    """
    channel = recording.integration.channel
    if channel is None or recording.window is None or integrated_j is None or not counter_j:
        return None
    start_s, end_s = recording.window
    inside = (channel.t_s[:-1] >= start_s) & (channel.t_s[1:] <= end_s)
    steps_s = np.diff(channel.t_s)[inside]
    if steps_s.size < 2:
        return None
    noise_w = np.sqrt(((channel.slope_w_per_s[inside] * steps_s) ** 2).mean() / 2)
    weights_s = (np.concatenate(([0.0], steps_s)) + np.concatenate((steps_s, [0.0]))) / 2
    return float(100 * noise_w * np.sqrt((weights_s**2).sum()) / counter_j)


def _wall_coverage_pct(recording: Recording) -> float | None:
    """Share of the window that lies between wall samples at most 2 s apart."""
    channel = recording.wall.channel
    if channel is None or recording.window is None:
        return None
    start_s, end_s = recording.window
    close = np.diff(channel.t_s) <= WALL_STEP_S * WALL_STEP_TOLERANCE
    covered_s = np.minimum(channel.t_s[1:], end_s) - np.maximum(channel.t_s[:-1], start_s)
    return float(100 * np.maximum(covered_s, 0)[close].sum() / (end_s - start_s))


def _wall_above_device_pct(recording: Recording) -> float | None:
    """Share of the window's 10 s means in which the wall drew at least what the device did."""
    wall_j, device_j = recording.wall_beside_device
    return float(100 * (wall_j >= device_j).mean()) if wall_j.size else None
