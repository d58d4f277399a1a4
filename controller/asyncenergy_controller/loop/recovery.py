"""After a crash: what was going on then is ended and reported, and never run a second time by itself."""

import logging
from datetime import datetime
from pathlib import Path

from asyncenergy_controller import clock
from asyncenergy_controller.adapters import heal_switches
from asyncenergy_controller.adapters.processes import end_run, exit_code_of
from asyncenergy_controller.loop.due import RunStatus
from asyncenergy_controller.loop.history import KEPT, Claim, History
from asyncenergy_controller.loop.reports import Reports
from asyncenergy_controller.settings import Settings

log = logging.getLogger("asyncenergy_controller.loop")


def recover(settings: Settings, history: History, reports: Reports) -> int:
    """Settle every run that was cut off; return how many that were. The caller holds the lock of the state folder."""
    for sentence in heal_switches(settings.state_dir):
        log.warning("%s", sentence)
    claims = history.unsettled()
    for claim in claims:
        status = _ended(settings.job_log_dir / f"{claim.run_id}.log", claim)
        reports.cut_off(claim, status, at=clock.now())
        history.settle(claim.run_id, status, clock.now())
    return len(claims)


def _ended(log_path: Path, claim: Claim) -> RunStatus:
    """How the run ended: by itself and well, before this was asked, or now."""
    is_done = exit_code_of(log_path) == 0  # before it is ended: a program may end well when it is asked to
    leftovers = end_run(claim.run_id)
    is_done = is_done or (leftovers == 0 and exit_code_of(log_path) == 0)  # it ended by itself just then
    words = "its work was done" if is_done else f"it counts as interrupted, {leftovers} processes of it were ended"
    log.warning("Run %s was going on when the last controller here died: %s.", claim.run_id, words)
    return "success" if is_done else "preempted"


def forget_old(settings: Settings, history: History, now: datetime) -> None:
    """Drop runs and their output that nobody asks for any more."""
    history.forget_old(now)
    for path in settings.job_log_dir.glob("*"):
        if path.stat().st_mtime < (now - KEPT).timestamp():
            path.unlink(missing_ok=True)
