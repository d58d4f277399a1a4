"""Send what waits in the outbox: in order, as long as the server takes it."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from asyncenergy_controller.clock import monotonic
from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.reporting.outbox import Outbox
from asyncenergy_controller.reporting.rows import Entry
from asyncenergy_controller.server import RequestRefused, ServerFailed
from asyncenergy_controller.server.errors import NotNow

log = logging.getLogger(__name__)

RUNS_AT_ONCE = 100
SAMPLES_AT_ONCE = 5_000


class Server(Protocol):
    """What is needed of ServerClient."""

    def post_runs(self, records: Sequence[Mapping[str, Any]]) -> dict[str, str]: ...
    def post_samples(self, server_id: str, samples: Sequence[Mapping[str, Any]]) -> int: ...
    def post_ack(self, body: Mapping[str, Any]) -> dict[str, Any]: ...


def send(outbox: Outbox, client: Server, within_s: float) -> tuple[int, str | None]:
    """Return how many reports the server took, and what stopped it before all were sent; time alone is no problem.

    What the server refuses for good is set aside. Raises sqlite3.Error.
    """
    until_s = monotonic() + within_s
    sent = singly = 0
    while monotonic() < until_s:
        try:
            if entries := outbox.unsent(1 if singly else RUNS_AT_ONCE):
                singly = max(0, singly - 1)
                sent += _send_entries(outbox, client, entries)
            elif found := outbox.with_samples(SAMPLES_AT_ONCE):
                _send_samples(outbox, client, *found)
            else:
                break
        except _OneByOne as batch:
            singly = batch.size
        except ControllerError as error:
            return sent, error.message
    return sent, None


class _OneByOne(Exception):
    """The server did not take these together; which of them it is shows when they go alone."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size


def _send_entries(outbox: Outbox, client: Server, entries: Sequence[Entry]) -> int:
    """Return how many of them the server took."""
    try:
        return _post_acks(outbox, client, entries) if entries[0].kind == "ack" else _post_runs(outbox, client, entries)
    except (RequestRefused, ServerFailed) as error:
        if _is_passing(error):
            raise
        if len(entries) > 1:
            raise _OneByOne(len(entries)) from error
        _not_taken(outbox, entries[0], error)
        return 0


def _post_runs(outbox: Outbox, client: Server, entries: Sequence[Entry]) -> int:
    server_ids = client.post_runs([entry.body for entry in entries])
    outbox.sent({entry.id: server_ids[entry.body["run_id"]] for entry in entries})
    return len(entries)


def _post_acks(outbox: Outbox, client: Server, entries: Sequence[Entry]) -> int:
    for entry in entries:
        client.post_ack(entry.body)
        outbox.sent({entry.id: ""})  # the server names no id, and nothing follows
    return len(entries)


def _send_samples(outbox: Outbox, client: Server, entry: Entry, samples: Sequence[Mapping[str, Any]]) -> None:
    """A run that the server has lost, as after a restored backup, is reported again, once."""
    try:
        client.post_samples(entry.server_id or "", samples)
    except (RequestRefused, ServerFailed) as error:
        if _is_passing(error):
            raise
        if isinstance(error, RequestRefused) and error.status == 404 and not entry.failures:
            outbox.send_again(entry)
        else:
            _not_taken(outbox, entry, error)
    else:
        outbox.samples_sent(entry, [sample["ts"] for sample in samples])


def _is_passing(error: RequestRefused | ServerFailed) -> bool:
    return error.is_passing if isinstance(error, RequestRefused) else isinstance(error, NotNow)


def _not_taken(outbox: Outbox, entry: Entry, error: RequestRefused | ServerFailed) -> None:
    """Refused for good: set aside. A failure over this one: the others go first, and the server is left in peace."""
    if isinstance(error, RequestRefused):
        log.error("The server refuses %s %s for good: %s (see `reports`)", entry.kind, entry.key, error.message)
        outbox.refuse(entry, error.message)
        return
    outbox.failed(entry)
    raise error
