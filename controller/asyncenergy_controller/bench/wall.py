"""Puts a wall plug's readings where they belong: the plug answers later than the GPU does."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from asyncenergy_controller.meters.align import align_wall


def wall_aligned(columns: dict[str, Any]) -> tuple[dict[str, Any], float | None]:
    """The trace with each wall reading at the sample nearest to its true time, and the seconds of skew taken out.

    The skew is None, and the trace unchanged, where there is no plug, or no edge to find the skew by.
    """
    power, wall = columns.get("gpu_power_w"), columns.get("wall_power_w")
    if power is None or wall is None:
        return columns, None
    skew_s = align_wall(columns["t_s"], power, wall).skew_s
    if skew_s is None:
        return columns, None
    return columns | {"wall_power_w": _moved(columns["t_s"], wall, skew_s)}, skew_s


def _moved(t_s: Sequence[float], wall: Sequence[float | None], skew_s: float) -> list[float | None]:
    """Readings that belong outside the recording are left out; of two at one sample the later one stays."""
    moved: list[float | None] = [None] * len(t_s)
    for time_s, watts in zip(t_s, wall, strict=True):
        true_s = time_s - skew_s
        if watts is not None and t_s[0] <= true_s <= t_s[-1]:
            moved[_nearest(t_s, true_s)] = watts
    return moved


def _nearest(t_s: Sequence[float], time_s: float) -> int:
    right = bisect_left(t_s, time_s)
    if right == 0 or (right < len(t_s) and t_s[right] - time_s < time_s - t_s[right - 1]):
        return right
    return right - 1
