"""Asks the server for the schedule: at its pace, and slower while it doesn't answer."""

import logging
import random

from asyncenergy_controller import clock
from asyncenergy_controller.loop.kept import KeptSchedule
from asyncenergy_controller.reporting.backoff import Backoff
from asyncenergy_controller.server import Schedule, ServerClient, ServerError

log = logging.getLogger("asyncenergy_controller.loop")

JITTER = 0.1
LONGEST_WAIT_S = 300.0
"""So soon at the latest is a server heard again that was away, or a key taken that was put right."""
FRESH_S = 5.0
"""What is begun is begun by a schedule that was asked for at most this long ago, if the server answers."""
FROM_SCRATCH_S = 3600.0
"""A server that lost its newest versions, or was replaced, would otherwise never be heard again."""


class Pace:
    """When to ask again: after the interval, never all boxes at once; after failures ever later."""

    def __init__(self, interval_s: float) -> None:
        self._interval_s = interval_s
        self._due_s = 0.0
        self._backoff = Backoff()

    def worked(self) -> None:
        self._backoff.worked()
        self._wait(self._interval_s * random.uniform(1 - JITTER, 1 + JITTER))  # noqa: S311  # no secret

    def failed(self) -> None:
        self._backoff.failed()
        self._wait(min(self._backoff.left_s, max(self._interval_s, LONGEST_WAIT_S)))

    def left_s(self) -> float:
        """Seconds of `clock.now()` until the next call."""
        return max(0.0, self._due_s - clock.monotonic()) * clock.factor()

    def _wait(self, seconds: float) -> None:
        self._due_s = clock.monotonic() + seconds / clock.factor()


class Poller:
    """Holds the newest schedule that is known: the server's, else the one on disk."""

    def __init__(self, client: ServerClient, kept: KeptSchedule, *, controller_id: str, interval_s: float) -> None:
        self.schedule: Schedule | None = kept.read()
        self.problem: ServerError | None = None
        """Why the server's schedule isn't known at present; None where it is."""
        self.pace = Pace(interval_s)
        self._client = client
        self._kept = kept
        self.controller_id = controller_id
        self._asked_s: float | None = None
        self._asked_from_scratch_s: float | None = None

    def poll(self) -> None:
        """Ask once. Without an answer the schedule stays as it is, and `problem` says why."""
        from_scratch = _is_older(self._asked_from_scratch_s, FROM_SCRATCH_S)
        after = -1 if from_scratch or self.schedule is None else self.schedule.version
        try:
            newer = self._client.schedule(after, controller_id=self.controller_id)
        except ServerError as error:
            self._failed(error)
            return
        self.problem = None
        self._asked_s = clock.monotonic()
        self.pace.worked()
        if from_scratch:
            self._asked_from_scratch_s = self._asked_s
        if newer is not None or after == -1:
            self._take(newer)

    def poll_if_due(self) -> bool:
        """Ask where it is time to; return whether it was."""
        if is_due := self.pace.left_s() <= 0:
            self.poll()
        return is_due

    def freshen(self) -> None:
        """Ask before something is begun, unless that has just been done, or the server was just away."""
        if self.problem is None and _is_older(self._asked_s, FRESH_S):
            self.poll()

    def _failed(self, error: ServerError) -> None:
        self.pace.failed()
        if type(error) is not type(self.problem) or error.message != str(self.problem):
            log.warning("The schedule could not be asked for: %s", error.message)
        self.problem = error

    def _take(self, schedule: Schedule | None) -> None:
        if schedule is None:
            self._kept.forget()
        elif schedule != self.schedule:
            log.info("Schedule %d has %d placements for this box.", schedule.version, len(schedule.placements))
            for warning in schedule.warnings:
                log.warning("Schedule %d: %s", schedule.version, warning)
            self._keep(schedule)
        self.schedule = schedule

    def _keep(self, schedule: Schedule) -> None:
        """A full disk must not end the job that runs."""
        try:
            self._kept.write(schedule)
        except OSError as error:
            log.warning("Schedule %d is followed but can't be kept on disk: %s", schedule.version, error)


def _is_older(then_s: float | None, seconds: float) -> bool:
    return then_s is None or clock.monotonic() - then_s > seconds / clock.factor()
