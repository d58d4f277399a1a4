"""Whether a process that was noted down still runs."""

from pathlib import Path

import psutil

CREATE_TIME_SLACK_S = 2.0
PROC = Path("/proc")
BOOT_ID = PROC / "sys/kernel/random/boot_id"
GONE = (b"Z", b"X")
START_TICKS = 22 - 3
"""`starttime`, the 22nd field of /proc/PID/stat, counted from the state, which is the third."""


def mark_of(pid: int) -> str | None:
    """What only this process has, whatever is done to the clock: this boot's id, and the tick since then it began at.

    None where the process is gone, though nobody may have reaped it, and on systems other than Linux, whose
    `create_time` no clock moves.
    """
    try:
        fields = (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()  # a name may hold anything
        return None if fields[0] in GONE else f"{BOOT_ID.read_text().strip()} {int(fields[START_TICKS])}"
    except OSError:
        return None


def still_runs(pid: int, created_s: float, mark: str | None = None) -> bool:
    """Say whether the process that had this mark does; another may have been given its id since.

    Without a mark, the process that began at `created_s` (Unix time): on Linux that moves when the clock is set.
    """
    if mark is not None:
        return mark_of(pid) == mark
    try:
        found_s = psutil.Process(pid).create_time()
    except psutil.Error:
        return False
    return abs(found_s - created_s) < CREATE_TIME_SLACK_S
