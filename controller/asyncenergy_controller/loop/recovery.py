"""After a crash: what was going on then is ended and reported, and never run a second time by itself."""

import logging
from datetime import datetime

from asyncenergy_controller import clock
from asyncenergy_controller.adapters import heal_switches
from asyncenergy_controller.adapters.processes import end_run
from asyncenergy_controller.loop.history import KEPT, History
from asyncenergy_controller.loop.reports import Reports
from asyncenergy_controller.settings import Settings

log = logging.getLogger("asyncenergy_controller.loop")


def recover(settings: Settings, history: History, reports: Reports) -> int:
    """Settle every run that was cut off; return how many that were. The caller holds the lock of the state folder."""
    for sentence in heal_switches(settings.state_dir):
        log.warning("%s", sentence)
    claims = history.unsettled()
    for claim in claims:
        leftovers = end_run(claim.run_id)
        reports.cut_off(claim, "preempted", at=clock.now())
        history.settle(claim.run_id, "preempted", clock.now())
        log.warning(
            "Run %s of workflow %s was going on when the last controller here died: it counts as interrupted%s.",
            claim.run_id,
            claim.workflow_id,
            f", and {leftovers} processes of it were ended" if leftovers else "",
        )
    return len(claims)


def forget_old(settings: Settings, history: History, now: datetime) -> None:
    """Drop runs and their output that nobody asks for any more."""
    history.forget_old(now)
    for path in settings.job_log_dir.glob("*.log"):
        if path.stat().st_mtime < (now - KEPT).timestamp():
            path.unlink(missing_ok=True)
