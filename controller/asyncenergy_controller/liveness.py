"""Whether a process that was noted down still runs."""

import psutil

CREATE_TIME_SLACK_S = 2.0


def still_runs(pid: int, created_s: float) -> bool:
    """Say whether the process that began at `created_s` (Unix time) does; another may have been given its id since."""
    try:
        found_s = psutil.Process(pid).create_time()
    except psutil.Error:
        return False
    return abs(found_s - created_s) < CREATE_TIME_SLACK_S
