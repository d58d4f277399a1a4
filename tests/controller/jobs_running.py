"""Run one entry as the loop does, in a folder of the test."""

import threading
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from asyncenergy_controller.adapters import run_entry
from asyncenergy_controller.clock import monotonic
from asyncenergy_controller.jobs.entry import REQUESTS, JobEntry


@dataclass
class Runner:
    """`stop` may be set by a test, at once or after `stop_after_s`."""

    folder: Path
    stop: threading.Event = field(default_factory=threading.Event)
    run_id: uuid.UUID = field(default_factory=uuid.uuid4)

    @property
    def log(self) -> Path:
        return self.folder / "logs" / "run.log"

    @property
    def state(self) -> Path:
        return self.folder / "state"

    def run(self, framework, limit_s=None, stop_after_s=None, piece=1, done=0.0, **request):
        """Return the outcome."""
        entry = entry_of(framework, **request)
        timer = threading.Timer(stop_after_s or 0, self.stop.set)
        if stop_after_s is not None:
            timer.start()
        try:
            return run_entry(
                entry,
                kill_at_s=None if limit_s is None else monotonic() + limit_s,
                log_path=self.log,
                stop=self.stop,
                run_id=self.run_id,
                state_dir=self.state,
                piece=piece,
                done=done,
            )
        finally:
            timer.cancel()


def entry_of(framework, **request):
    return JobEntry(workflow_id="w", framework=framework, request=REQUESTS[framework].model_validate(request))
