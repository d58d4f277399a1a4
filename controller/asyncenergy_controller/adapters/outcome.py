"""What came of a job."""

from dataclasses import dataclass
from typing import Literal

ExitStatus = Literal["success", "error", "preempted"]


@dataclass(frozen=True)
class Outcome:
    """`detail` is a sentence for people on this machine; it may quote the job's own output and is never sent."""

    exit_status: ExitStatus
    detail: str = ""
    work_units: float | None = None
    work_unit_kind: str | None = None
    done: float = 0.0
    """How much of the job is done, over all its pieces so far, in the job's own unit: `run_entry` takes it again."""
