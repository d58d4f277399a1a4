"""Make a workflow at the server and its job here: one of each, also when it is tried again after a failure."""

import hashlib
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from asyncenergy_controller.files import PRIVATE_FILE, read_json, write_json
from asyncenergy_controller.jobs.catalog import load_catalog, read_entry
from asyncenergy_controller.jobs.entry import ChargeRequest, JobEntry
from asyncenergy_controller.jobs.registering import add_entry
from asyncenergy_controller.server import ServerFailed
from asyncenergy_controller.wire import canonical_json

NEW_JOB = "the new job"
SECRETS = frozenset({"env", "api_key", "secret"})
"""Parts of a request that never leave, whoever asked to share it."""

TO_BE_PLANNED = {
    "est_duration_s": "how long it takes (--est-duration)",
    "nameplate_watts": "what it draws (--nameplate-watts)",
}

Post = Callable[[dict[str, Any], str], dict[str, Any]]
"""Sends a body with an idempotency key and returns the server's answer."""


@dataclass(frozen=True)
class Registration:
    """What is written here, and what is said to the server about it."""

    path: Path
    entry: Mapping[str, Any]
    about: Mapping[str, Any]
    """When it may run and what it draws, as the API names it; never what runs."""
    share_request: bool = False

    def checked(self) -> JobEntry:
        """Return the job as it will be read. Raises CatalogError for the job, and for a file that can't be used."""
        if self.path.exists() or self.path.is_symlink():
            load_catalog(self.path)
        return read_entry(NEW_JOB, dict(self.entry), self.path)

    def body(self) -> dict[str, Any]:
        """Every byte that leaves this machine."""
        body = {"framework": self.entry["framework"], **self.about}
        if isinstance(request := self.checked().request, ChargeRequest) and request.hold_s:
            body.setdefault("est_duration_s", request.hold_s)
        if self.share_request:
            body["request"] = {name: part for name, part in self.entry["request"].items() if name not in SECRETS}
        return body

    def hints(self) -> list[str]:
        """What the server has to know of a job that has never run, and isn't told."""
        body = self.body()
        return [words for name, words in TO_BE_PLANNED.items() if name not in body]


@dataclass(frozen=True)
class Registered:
    """The workflow's id, and between which instants it may run next as the server understood it; None: not known."""

    workflow_id: str
    next_window: tuple[datetime, datetime] | None


def register(registration: Registration, post: Post, state_dir: Path, api_url: str) -> Registered:
    """Make the workflow; its job stands in the file afterwards.

    Raises CatalogError before anything is sent, and ServerError; the same registration tried again makes no second
    workflow.
    """
    body = registration.body()
    attempt = _Attempt(state_dir, canonical_json([api_url, str(registration.path), body, registration.entry]))
    answer = post(body, attempt.key())
    workflow_id = _id_in(answer)
    add_entry(registration.path, workflow_id, registration.entry)
    attempt.forget()
    return Registered(workflow_id, _window_in(answer))


class _Attempt:
    """The key of a registration until it has succeeded: a lost answer is asked for again, not made again."""

    def __init__(self, state_dir: Path, what: bytes) -> None:
        self._path = state_dir / "registering" / f"{hashlib.sha256(what).hexdigest()[:32]}.json"

    def key(self) -> str:
        if self._path.exists():
            return str(read_json(self._path)["key"])
        key = uuid.uuid4().hex
        write_json(self._path, {"key": key}, mode=PRIVATE_FILE)
        return key

    def forget(self) -> None:
        self._path.unlink(missing_ok=True)


def _id_in(answer: Mapping[str, Any]) -> str:
    """The one word of the server's that goes into jobs.json; as an id it can be nothing else."""
    try:
        return str(uuid.UUID(str(answer.get("id"))))
    except ValueError as error:
        raise ServerFailed(
            "The server's answer names no id that could be a workflow's, so nothing is written; is this an Async "
            "Energy server?"
        ) from error


def _window_in(answer: Mapping[str, Any]) -> tuple[datetime, datetime] | None:
    window: Any = answer.get("next_window")
    try:
        first, last = (datetime.fromisoformat(window[name]) for name in ("earliest_start", "deadline"))
    except (TypeError, KeyError, ValueError):
        return None
    return (first, last) if first.tzinfo and last.tzinfo else None
