"""Power shape, temperature, clocks, memory and utilisation of the device over the items' window."""

from dataclasses import dataclass

import numpy as np

from .columns import Array, number
from .readings import ratio
from .recording import Recording


@dataclass(frozen=True, kw_only=True)
class DeviceFigures:
    """Means and extremes of the samples in the window; shape figures have no unit unless named.

    peak_sampled_gpu_w is the highest sample of the integrated field in the whole recording.
    """

    peak_gpu_w: float | None
    peak_sampled_gpu_w: float | None
    gpu_power_std_w: float | None
    gpu_power_cv: float | None
    gpu_power_crest_factor: float | None
    gpu_power_p95_p50_ratio: float | None
    gpu_power_jaggedness_w_per_s: float | None
    gpu_temp_c_start: float | None
    gpu_temp_c_end: float | None
    peak_gpu_temp_c: float | None
    mean_gpu_temp_c: float | None
    temperature_drift_c: float | None
    peak_gpu_mem_used_mib: float | None
    mean_gpu_mem_used_mib: float | None
    mean_gpu_util_pct: float | None
    mean_gpu_sm_clock_mhz: float | None


def device_figures(recording: Recording) -> DeviceFigures:
    """The peak is taken from the instant power field where it was read, all else from the average field."""
    power = recording.in_window("gpu_power_w")
    instant = recording.in_window("gpu_power_instant_w")
    temperature = recording.in_window("gpu_temp_c")
    memory = recording.in_window("gpu_mem_used_mib")
    mean_w, std_w = _mean(power), float(power.std()) if power.size else None
    p50, p95 = np.percentile(power, (50, 95)).tolist() if power.size else (None, None)
    return DeviceFigures(
        peak_gpu_w=_max(instant if instant.size else power),
        peak_sampled_gpu_w=number(np.fmax.reduce(recording.sample("gpu_power_w"), initial=np.nan)),
        gpu_power_std_w=std_w,
        gpu_power_cv=ratio(std_w, mean_w),
        gpu_power_crest_factor=ratio(_max(power), mean_w),
        gpu_power_p95_p50_ratio=ratio(p95, p50),
        gpu_power_jaggedness_w_per_s=_jaggedness_w_per_s(recording),
        gpu_temp_c_start=float(temperature[0]) if temperature.size else None,
        gpu_temp_c_end=float(temperature[-1]) if temperature.size else None,
        peak_gpu_temp_c=_max(temperature),
        mean_gpu_temp_c=_mean(temperature),
        temperature_drift_c=float(temperature[-1] - temperature[0]) if temperature.size else None,
        peak_gpu_mem_used_mib=_max(memory),
        mean_gpu_mem_used_mib=_mean(memory),
        mean_gpu_util_pct=_mean(recording.in_window("gpu_util_pct")),
        mean_gpu_sm_clock_mhz=_mean(recording.in_window("sm_clock_mhz")),
    )


def _jaggedness_w_per_s(recording: Recording) -> float | None:
    """Mean steepness of the power curve: watts up and down per second of the window."""
    channel = recording.integration.channel
    if channel is None or recording.window is None:
        return None
    inside = (channel.t_s[:-1] >= recording.window[0]) & (channel.t_s[1:] <= recording.window[1])
    steps_s = np.diff(channel.t_s)[inside]
    up_and_down_w = (np.abs(channel.slope_w_per_s[inside]) * steps_s).sum()
    return ratio(float(up_and_down_w), float(steps_s.sum()))


def _mean(samples: Array) -> float | None:
    return float(samples.mean()) if samples.size else None


def _max(samples: Array) -> float | None:
    return float(samples.max()) if samples.size else None
