"""Where reports wait until the server has them: on disk before they count as kept, sent in order, effective once."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.reporting.records import Ack, RunRecord, Sample
from asyncenergy_controller.settings import Settings

SAMPLES_AT_MOST = 200_000
"""Two days and seven hours at one a second, some 50 MB."""


class SpoolError(ControllerError):
    """A report could not be kept, neither in the spool nor beside it; the caller still has it."""


class Server(Protocol):
    """What the spool needs of ServerClient."""

    def post_runs(self, records: Sequence[dict[str, object]]) -> dict[str, str]: ...
    def post_samples(self, server_id: str, samples: Sequence[Sample]) -> int: ...
    def post_ack(self, body: dict[str, object]) -> dict[str, object]: ...


@dataclass(frozen=True, slots=True)
class Counts:
    """What waits, and what was set aside because the server refused it for good."""

    runs: int
    acks: int
    samples: int
    set_aside: int

    @property
    def waiting(self) -> int:
        """Reports that are still to be sent: 0 when the server has everything."""
        return self.runs + self.acks


@dataclass(frozen=True, slots=True)
class Drained:
    """What one attempt sent, what is left, and what stopped it."""

    sent: int
    left: int
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class SetAside:
    """A report that the server will not take, and its words."""

    kind: Literal["run", "ack"]
    key: str
    reason: str


class Spool:
    """One file of reports to one server. Any number of processes and threads may use it at once."""

    def __init__(self, path: Path, *, samples_at_most: int = SAMPLES_AT_MOST) -> None:
        self.path = path
        self._samples_at_most = samples_at_most

    def put_run(self, record: RunRecord, samples: Sequence[Sample] = ()) -> None:
        """Keep a run. It is on disk when this returns; keeping it again changes nothing. Raises SpoolError."""
        raise NotImplementedError

    def put_ack(self, ack: Ack) -> None:
        """Keep an ack. It is on disk when this returns. Raises SpoolError."""
        raise NotImplementedError

    def drain(self, client: Server) -> Drained:
        """Send what waits, oldest first, records and acks before samples. Never raises for what the server does."""
        raise NotImplementedError

    def counts(self) -> Counts:
        raise NotImplementedError

    def set_aside(self) -> list[SetAside]:
        raise NotImplementedError


def open_spool(settings: Settings) -> Spool:
    """The spool of the settings' server."""
    return Spool(settings.state_dir / "spool.sqlite3")
