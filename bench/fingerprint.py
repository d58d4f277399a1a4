"""What a recording keeps when it is sent again: whole, under another label, cut shorter, scaled, or with noise on it.

Two kinds: a hash of the whole, and marks of its parts. Marks come from three channels that a forger would have to
change together: the largest jumps of the power, those of the counter's steps, and how long the items took. Pure.
"""

import hashlib
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.columns import Array, present

MARKS_A_CHANNEL = 12
ALIKE = 4  # marks of one channel in common; honest recordings of one workload had two at most
AROUND = 6  # samples on each side of a jump whose order is a mark: 12! orders
LEAST_JUMP = 1e-6  # of the largest value: what is smaller is rounding
SHINGLE = 3  # neighbouring items whose durations are a mark
GRAIN = 5e-4  # of a duration: far below what repeats of one item differ by
MIN_SHINGLES = 6
_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
_CHANNEL_BITS = 60

_COUNTERS = ("gpu_energy_mj", "cpu_energy_uj")
_ENERGY_TOTALS = ("total_joules_gpu_best", "total_joules_gpu_counter", "total_joules_gpu")
_MEASURED_TOTALS = (*_ENERGY_TOTALS, "run_duration_s", "total_completion_tokens", "mean_gpu_w", "peak_gpu_w")
Marks = npt.NDArray[np.uint64]


def fingerprint(measured: Mapping[str, Any]) -> str | None:
    """sha256 of the trace, or of the measured totals: what a replay keeps when it changes the labels alone."""
    if measured.get("energy_source") == "simulated":
        return None
    if "trace" in measured:
        columns = [measured["trace"].get(name) for name in ("gpu_power_w", *_COUNTERS)]
        told = [column for column in columns if column is not None and present(column).size]
        return hashlib.sha256(b"".join(column.tobytes() for column in told)).hexdigest() if told else None
    if not any(measured.get(name) for name in _ENERGY_TOTALS):
        return None
    totals = [float(measured.get(name) or 0) for name in _MEASURED_TOTALS]
    return hashlib.sha256(repr(totals).encode()).hexdigest()


def marks(measured: Mapping[str, Any]) -> frozenset[int]:
    """At most 36 numbers below 2^62; the two highest bits name the channel. None for totals and simulations."""
    if "trace" not in measured or measured.get("energy_source") == "simulated":
        return frozenset()
    trace, items = measured["trace"], measured["items"]
    power = trace.get("gpu_power_w")
    counter = next((trace[name] for name in _COUNTERS if trace.get(name) is not None), None)
    channels = (
        _jumps(power) if power is not None else [],
        _jumps(np.diff(counter)) if counter is not None else [],
        _durations(items["t_end_s"] - items["t_start_s"]),
    )
    return frozenset(int(mark) | channel << _CHANNEL_BITS for channel, found in enumerate(channels) for mark in found)


def alike(one: Collection[int], other: Collection[int]) -> int:
    """Marks in common in the channel that has most of them."""
    common = [mark >> _CHANNEL_BITS for mark in set(one) & set(other)]
    return max((common.count(channel) for channel in set(common)), default=0)


def _jumps(column: Array) -> Marks | list[int]:
    """The order of the samples around each of the largest jumps: scaling keeps it, and cutting keeps what is left."""
    values = present(column)
    sizes = np.abs(np.diff(values))
    sizes[:AROUND], sizes[-AROUND:] = 0, 0
    if np.count_nonzero(sizes > LEAST_JUMP * np.abs(values).max(initial=0.0)) < 2 * MARKS_A_CHANNEL:
        return []
    at = np.argpartition(sizes, -MARKS_A_CHANNEL)[-MARKS_A_CHANNEL:]
    around = values[at[:, None] + np.arange(1 - AROUND, 1 + AROUND)]
    order = np.argsort(around, axis=1, kind="stable").astype(np.uint64)
    powers = np.uint64(2 * AROUND) ** np.arange(2 * AROUND, dtype=np.uint64)
    found: Marks = (order * powers).sum(axis=1)
    return found


def _durations(durations_s: Array) -> Marks | list[int]:
    """The least hashes of neighbouring durations, on a logarithmic scale; durations that are all alike tell nothing."""
    known = durations_s[durations_s > 0]
    if known.size < MIN_SHINGLES + SHINGLE:
        return []
    grains = np.rint(np.log(known) / GRAIN).astype(np.int64).astype(np.uint64)
    parts = [grains[i : grains.size - SHINGLE + 1 + i] * np.uint64(_MIX[i]) for i in range(SHINGLE)]
    mixed = np.bitwise_xor.reduce(parts)
    hashes = np.unique((mixed ^ (mixed >> np.uint64(29))) * np.uint64(_MIX[0]) >> np.uint64(64 - _CHANNEL_BITS))
    return hashes[:MARKS_A_CHANNEL] if hashes.size >= MIN_SHINGLES else []
