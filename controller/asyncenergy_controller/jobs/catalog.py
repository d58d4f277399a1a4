"""Read jobs.json, and keep the last good one while somebody edits it."""

import stat
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from asyncenergy_controller.jobs.entry import REQUESTS, JobEntry
from asyncenergy_controller.jobs.plain_file import read_plain_file
from asyncenergy_controller.jobs.text import decode
from asyncenergy_controller.jobs.trust import OTHERS_READ, CatalogError, check_file, check_folders

__all__ = ["Catalog", "CatalogError", "CatalogFile", "load_catalog"]

MOST_BYTES = 1 << 20
UNUSED = "deadline"
"""Controllers in the field kept a time of their own beside the schedule's."""


@dataclass(frozen=True)
class Catalog:
    """Jobs by the id of their workflow."""

    jobs: Mapping[str, JobEntry] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def load_catalog(path: Path) -> Catalog:
    """Return what the file says. Raises CatalogError, which names the file, the place and the way out."""
    raw, mode = read_catalog(path)
    return parse_catalog(path, raw, mode)


class CatalogFile:
    """The file as it is now; while it can't be used, as it was last."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem: str | None = None
        """Why the file can't be used at present; None where all is well."""
        self._seen: tuple[bytes, int] | None = None
        self._good = Catalog()

    def current(self) -> Catalog:
        """Return the newest good catalog, an empty one where there never was one. `problem` says what is wrong."""
        try:
            self._refresh()
        except CatalogError as error:
            self.problem = error.message
        return self._good

    def _refresh(self) -> None:
        seen = read_catalog(self.path)
        if seen != self._seen:
            self._good = parse_catalog(self.path, *seen)
            self._seen = seen
        self.problem = None


def read_catalog(path: Path) -> tuple[bytes, int]:
    """Return the bytes and the mode of one and the same file. Raises CatalogError unless it is trustworthy."""
    try:
        check_folders(path)
        raw, found = read_plain_file(path, MOST_BYTES, lambda state: check_file(path, state))
    except OSError as error:
        raise CatalogError(
            f"{path} can't be read ({error.strerror}). `async-energy-controller register` writes it."
        ) from error
    if len(raw) > MOST_BYTES:
        raise CatalogError(f"{path} is larger than 1 MiB; keep prompts in files of their own (prompt_file).")
    return raw, stat.S_IMODE(found.st_mode)


def parse_catalog(path: Path, raw: bytes, mode: int) -> Catalog:
    """Return what the bytes of the file at `path` say. Raises CatalogError with every wrong place."""
    try:
        value = decode(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise CatalogError(f"{path} is no readable JSON: {error}. Nothing of it is taken.") from error
    if not isinstance(value, dict):
        raise CatalogError(f"{path} must hold an object: workflow id → job.")
    given = {name: job for name, job in value.items() if not name.startswith("_")}
    jobs = {name: read_entry(name, job, path) for name, job in given.items()}
    return Catalog(jobs, (*_unused(path, given), *_warnings(path, jobs, mode)))


def read_entry(workflow_id: str, value: Any, path: Path) -> JobEntry:
    """Check one job of the file at `path`. Raises CatalogError with each wrong place."""
    if not isinstance(value, dict):
        raise CatalogError(f"{path}: {workflow_id} must be an object with framework and request.")
    if "workflow_id" in value:
        raise CatalogError(f"{path}: {workflow_id}.workflow_id is unknown: the id stands before the job.")
    kind = REQUESTS.get(str(value.get("framework")))
    context = {"folder": path.resolve().parent}
    fields = {name: part for name, part in value.items() if name != UNUSED} | {"workflow_id": workflow_id}
    place = [workflow_id]
    try:
        if kind is not None and "request" in value:
            place = [workflow_id, "request"]
            fields["request"] = kind.model_validate(value["request"], context=context)
            place = [workflow_id]
        return JobEntry.model_validate(fields, context=context)
    except ValidationError as error:
        model = kind if len(place) == 2 and kind else JobEntry
        raise CatalogError("\n".join(_sentences(path, place, error, model))) from error


def _sentences(path: Path, place: list[str], error: ValidationError, model: type[BaseModel]) -> Iterator[str]:
    for wrong in error.errors(include_url=False, include_input=False):
        where = ".".join([*place, *map(str, wrong["loc"])])
        if wrong["type"] == "extra_forbidden":
            yield f"{path}: {where} is unknown; known are {', '.join(_keys(model))}."
        elif wrong["type"] != "default_factory_not_called":  # only says that something else is wrong
            yield f"{path}: {where}: {wrong.get('ctx', {}).get('error', wrong['msg'])}."


def _keys(model: type[BaseModel]) -> list[str]:
    """Names as the file has them."""
    return [
        str(getattr(field.validation_alias, "choices", [name])[0])
        for name, field in model.model_fields.items()
        if name != "workflow_id"
    ]


def _unused(path: Path, given: Mapping[str, Any]) -> Iterator[str]:
    for workflow_id, job in given.items():
        if UNUSED in job:
            yield f"{path}: {workflow_id}.{UNUSED} is not used: the workflow's own deadline holds."


def _warnings(path: Path, jobs: Mapping[str, JobEntry], mode: int) -> Iterator[str]:
    for workflow_id in jobs:
        if not _is_uuid(workflow_id):
            yield f"{path}: {workflow_id} doesn't look like a workflow id, so nothing will ever run it."
    if mode & OTHERS_READ and any(_has_secrets(job) for job in jobs.values()):
        yield f"{path} holds secrets and can be read by others (mode {mode:04o}): chmod 600 {path}"


def _is_uuid(text: str) -> bool:
    with suppress(ValueError):
        return str(uuid.UUID(text)) == text.lower()
    return False


def _has_secrets(job: JobEntry) -> bool:
    return any(getattr(job.request, name, None) for name in ("env", "api_key", "secret"))
