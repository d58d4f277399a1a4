"""One person's machine with a loop on it: jobs that leave marks, and a server that plans them."""

import threading
import time
from contextlib import contextmanager
from datetime import timedelta

from asyncenergy_controller import clock
from asyncenergy_controller.loop.assembly import assembled

from tests.controller.jobs_files import command, write_jobs
from tests.controller.loop_plans import WORKFLOW, body, placement
from tests.controller.report_server import settings_for


def in_s(seconds):
    return clock.now() + timedelta(seconds=seconds)


def planned(start_s=-1.0, length_s=3600.0, *, deadline_s=86_400.0, **changes):
    """A placement that counts its times from now, in seconds."""
    return placement(in_s(start_s), in_s(start_s + length_s), deadline=in_s(deadline_s), **changes)


class LoopBox:
    """A home folder, its catalog and the marks that its jobs leave."""

    def __init__(self, tmp_path, server):
        self.server = server
        self.path = tmp_path
        tmp_path.chmod(0o700)
        self.settings = settings_for(server, tmp_path, meter="null")
        self.settings.job_catalog.parent.mkdir()
        self.version = 0

    def has(self, *words, workflow_id=WORKFLOW, **more):
        """The catalog holds one job: by default one that leaves a mark and succeeds."""
        job = command(*(words or self.marking())) | {"name": "night-batch"} | more
        write_jobs(self.settings.job_catalog, {workflow_id: job})

    def polls_every(self, seconds):
        self.settings = self.settings.model_copy(update={"poll_interval_s": float(seconds)})

    def marking(self, then="true"):
        return "sh", "-c", f"echo x >> {self.path}/marks; {then}"

    def plan(self, *placements, **changes):
        self.version += 1
        self.server.publish(body(*placements, version=self.version, valid_until=in_s(7 * 86_400), **changes))

    def marks(self):
        path = self.path / "marks"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def once(self):
        with assembled(self.settings) as daemon:
            return daemon.run_once(), daemon.exit_code

    @contextmanager
    def running(self, **options):
        """The loop in a thread, stopped as a signal stops it."""
        with assembled(self.settings, **options) as daemon:
            thread = threading.Thread(target=daemon.run_forever)
            thread.start()
            try:
                yield daemon
            finally:
                daemon.stop()
                thread.join(20)
                assert not thread.is_alive()

    def records(self):
        return list(self.server.runs.values())

    def events(self):
        return [ack["event"] for ack in self.server.acks]


def until(holds, limit_s=10.0):
    """Wait for something that another thread does."""
    end_s = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end_s, "it did not happen in time"
        time.sleep(0.01)
