"""Whose processes are on the GPU: the engine's own, with its children, or somebody else's."""

from collections.abc import Collection
from pathlib import Path

import psutil

_HOST_PID_NAMESPACE = "pid:[4026531836]"  # fixed in Linux for the namespace that the machine itself started with


def count_others(listed: Collection[int], own: Collection[int]) -> tuple[int | None, str | None]:
    """Count the listed processes that are neither in `own` nor descend from one that is.

    None with a reason where they cannot be told apart: the engine's process is unknown, or the driver counts process
    ids in another namespace than we do.
    """
    strangers = {pid for pid in listed if pid not in own and not _descends(pid, own)}
    if len(strangers) == len(listed) and in_container():
        return None, "inside a container the driver's process ids are not the engine's"
    if strangers and not own:
        return None, "the engine's process is not known, so others cannot be told from it"
    return len(strangers), None


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
