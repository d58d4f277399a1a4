"""What follows from a run's samples: p95 of the power, its profile, throttled seconds, CPU energy. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from asyncenergy_controller.metrics import integrate_power_j, wrapping_counter_energy_j
from asyncenergy_controller.metrics.throttling import THERMAL_THROTTLE

JOULES_PER_WH = 3600.0
BUCKETS_AT_MOST = 120
SHORTEST_BUCKET_S = 10.0
LONGEST_GAP_S = 30.0
THROTTLING = frozenset({"hw_slowdown", "sw_thermal", "hw_thermal", "hw_power_brake"})


@dataclass(frozen=True, slots=True)
class Rollup:
    """`wh`: energy of each bucket of `bucket_s` from the first sample on, None where a part was not sampled."""

    bucket_s: float
    wh: tuple[float | None, ...]
    p95_w: float | None
    throttled_s: float | None
    cpu_wh: float | None
    sampled_wh: float | None
    n_samples: int


def rolled_up(columns: Mapping[str, Sequence[Any]]) -> Rollup:
    """Return the figures of samples in order of time; columns `t_s` (seconds), `power_w`, `throttle_reasons`,
    `cpu_rapl_uj`, each of which but the time may hold None."""
    t_s = np.asarray(columns["t_s"], dtype=np.float64)
    power = columns["power_w"]
    measured = np.array([np.nan if w is None else w for w in power], dtype=np.float64)
    known = measured[~np.isnan(measured)]
    length = float(t_s[-1] - t_s[0]) if len(t_s) else 0.0
    bucket_s = max(SHORTEST_BUCKET_S, length / BUCKETS_AT_MOST)
    joules = integrate_power_j(t_s.tolist(), list(power))
    return Rollup(
        bucket_s=bucket_s,
        wh=_buckets(t_s, measured, bucket_s),
        p95_w=float(np.percentile(known, 95)) if len(known) else None,
        throttled_s=_throttled_s(t_s, columns["throttle_reasons"]),
        cpu_wh=_cpu_wh(columns["cpu_rapl_uj"]),
        sampled_wh=None if joules is None else joules / JOULES_PER_WH,
        n_samples=len(t_s),
    )


def _buckets(t_s: np.ndarray[Any, Any], power: np.ndarray[Any, Any], bucket_s: float) -> tuple[float | None, ...]:
    known = ~np.isnan(power)
    at, watts = t_s[known], power[known]
    if len(at) < 2:
        return ()
    joules = np.concatenate(([0.0], np.cumsum(np.diff(at) * (watts[1:] + watts[:-1]) / 2)))
    sparse = np.concatenate(([0.0], np.cumsum(np.where(np.diff(at) > LONGEST_GAP_S, np.diff(at), 0.0))))
    count = max(1, int(np.ceil((at[-1] - at[0]) / bucket_s - 1e-9)))
    edges = np.minimum(at[0] + bucket_s * np.arange(count + 1), at[-1])
    wh = np.diff(np.interp(edges, at, joules)) / JOULES_PER_WH
    holes = np.diff(np.interp(edges, at, sparse)) > 0
    return tuple(None if hole else float(value) for value, hole in zip(wh, holes, strict=True))


def is_throttling(reasons: str) -> bool:
    """Whether a sample's reasons, names with commas or NVML's mask as ``0x…``, mean that the card slowed down."""
    if reasons.startswith("0x"):
        return bool(int(reasons, 16) & THERMAL_THROTTLE)
    return not THROTTLING.isdisjoint(name.strip() for name in reasons.split(","))


def _throttled_s(t_s: np.ndarray[Any, Any], reasons: Sequence[str | None]) -> float | None:
    """Each sample stands for the time until the next, holes left out; None where no sample says anything."""
    if len(t_s) < 2 or all(reason is None for reason in reasons):
        return None
    lengths = np.diff(t_s)
    on = np.array([reason is not None and is_throttling(reason) for reason in reasons[:-1]])
    return float(lengths[on & (lengths <= LONGEST_GAP_S)].sum())


def _cpu_wh(counter_uj: Sequence[float | None]) -> float | None:
    """RAPL samples carry no range, so that a counter that falls makes the energy unknown."""
    joules = wrapping_counter_energy_j(list(counter_uj), None).joules
    return None if joules is None else joules / JOULES_PER_WH
