"""Whose processes are on the GPU: the engine's own, with its children, or somebody else's."""

from collections.abc import Collection
from pathlib import Path

import psutil

_HOST_PID_NAMESPACE = "pid:[4026531836]"  # fixed in Linux for the namespace that the machine itself started with


def others(listed: Collection[int], own: Collection[int]) -> set[int]:
    """Return the listed process ids that are neither in `own` nor descend from one that is."""
    return {pid for pid in listed if pid not in own and not _descends(pid, own)}


def _descends(pid: int, own: Collection[int]) -> bool:
    try:
        return any(parent.pid in own for parent in psutil.Process(pid).parents())
    except psutil.Error:
        return False


def in_container() -> bool:
    """Say whether process ids here differ from those that the driver knows."""
    try:
        return str(Path("/proc/self/ns/pid").readlink()) != _HOST_PID_NAMESPACE
    except OSError:
        return False
