"""A schedule as it comes from the server: read tolerantly, so that one odd placement never hides the others. Pure."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from asyncenergy_controller.server.errors import ServerFailed
from asyncenergy_controller.server.values import finite_number, instant, text

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,119}")
SHARED_MACHINE = "shared"

Read = TypeVar("Read")


class ScheduleUnreadable(ServerFailed):
    """An answer that is no schedule: no version, no end of validity, no list of placements."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One uninterrupted stretch of a run, in UTC."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Placement:
    """One occurrence of a workflow and the time it was given, in UTC."""

    workflow_id: str
    occurrence_id: str | None
    """None from servers that know an occurrence by its workflow and start alone."""
    start: datetime
    start_text: str
    """The start as it was written: the same in every version while it doesn't move."""
    end: datetime
    """The job is ended then."""
    deadline: datetime | None
    latest_start: datetime | None
    pieces: tuple[Piece, ...]
    """In order, at least one, from `start` to `end`."""
    reason: str
    predicted_wh: float | None
    attempt: int
    machine: str
    cap_w: float | None
    """Power cap in W that was chosen together with the start."""


@dataclass(frozen=True, slots=True)
class Unplaced:
    """One occurrence that has no time, and why."""

    workflow_id: str
    occurrence_id: str | None
    deadline: datetime | None
    reason: str
    smallest_change: str | None
    """What would make it fit."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """One version of the account's plan."""

    id: str | None
    version: int
    valid_until: datetime
    placements: tuple[Placement, ...]
    """Those that have a time."""
    unplaced: tuple[Unplaced, ...]
    fallback_policy: str | None
    degraded: bool
    """Made with stale or forecast prices."""
    warnings: tuple[str, ...]
    """Which placements were passed over, and why."""


class _Odd(ValueError):
    """A field that can't be read; the message names it."""


def decode_schedule(body: object) -> Schedule:
    """Read a schedule; unknown keys are ignored, a placement that can't be read is passed over with a warning.

    Raises ScheduleUnreadable, and nothing else, whatever JSON it is given.
    """
    if not isinstance(body, Mapping) or not isinstance(rows := body.get("placements"), list):
        raise ScheduleUnreadable("The server's answer is no schedule: it holds no list of placements.")
    try:
        version, valid_until = _version(body), _instant(body, "valid_until")
    except _Odd as odd:
        raise ScheduleUnreadable(f"The server's schedule can't be read: {odd}.") from odd
    read, warnings = _read_rows(rows)
    return Schedule(
        id=text(body.get("id")),
        version=version,
        valid_until=valid_until,
        placements=tuple(row for row in read if isinstance(row, Placement)),
        unplaced=tuple(row for row in read if isinstance(row, Unplaced)),
        fallback_policy=text(body.get("fallback_policy")),
        degraded=body.get("degraded") is True,
        warnings=tuple(warnings),
    )


def _read_rows(rows: list[Any]) -> tuple[list[Placement | Unplaced], list[str]]:
    read: list[Placement | Unplaced] = []
    warnings: list[str] = []
    for index, row in enumerate(rows):
        try:
            read.append(_read_row(row))
        except _Odd as odd:
            warnings.append(f"placement {index} is passed over: {odd}")
    return read, warnings


def _read_row(row: object) -> Placement | Unplaced:
    if not isinstance(row, Mapping):
        raise _Odd(f"{row!r:.60} is no placement")
    return _placement(row) if row.get("feasible", True) is True else _unplaced(row)


def _unplaced(row: Mapping[Any, Any]) -> Unplaced:
    return Unplaced(
        workflow_id=_id(row, "workflow_id"),
        occurrence_id=_optional(_id, row, "occurrence_id"),
        deadline=_optional(_instant, row, "deadline"),
        reason=text(row.get("reason")) or "",
        smallest_change=text(row.get("smallest_change")),
    )


def _placement(row: Mapping[Any, Any]) -> Placement:
    start, end = _instant(row, "start"), _instant(row, "end")
    if end <= start:
        raise _Odd(f"its end {row['end']!r:.60} is not after its start {row['start']!r:.60}")
    attempt = row.get("attempt")
    return Placement(
        workflow_id=_id(row, "workflow_id"),
        occurrence_id=_optional(_id, row, "occurrence_id"),
        start=start,
        start_text=row["start"],
        end=end,
        deadline=_optional(_instant, row, "deadline"),
        latest_start=_optional(_instant, row, "latest_start"),
        pieces=_pieces(row, Piece(start, end)),
        reason=text(row.get("reason")) or "",
        predicted_wh=finite_number(row.get("predicted_wh")),
        attempt=attempt if type(attempt) is int and attempt > 0 else 1,
        machine=text(row.get("machine")) or SHARED_MACHINE,
        cap_w=finite_number(row.get("cap_w")),
    )


def _pieces(row: Mapping[Any, Any], whole: Piece) -> tuple[Piece, ...]:
    """In order, without overlap, and within the placement."""
    listed = row.get("pieces")
    if not listed:
        return (whole,)
    if not isinstance(listed, list) or not all(isinstance(piece, Mapping) for piece in listed):
        raise _Odd(f"its pieces {listed!r:.60} can't be read")
    pieces = tuple(Piece(_instant(piece, "start"), _instant(piece, "end")) for piece in listed)
    edges = [whole.start, *(edge for piece in pieces for edge in (piece.start, piece.end)), whole.end]
    if edges != sorted(edges) or any(piece.end <= piece.start for piece in pieces):
        raise _Odd(f"its pieces {listed!r:.60} are not in order within it")
    return pieces


def _version(body: Mapping[Any, Any]) -> int:
    version = body.get("version")
    if type(version) is not int:
        raise _Odd(f"its version is {version!r:.60}")
    return version


def _instant(row: Mapping[Any, Any], name: str) -> datetime:
    at = instant(row.get(name))
    if at is None:
        raise _Odd(f"{name} {row.get(name)!r:.60} is no time with an offset")
    return at


def _id(row: Mapping[Any, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not ID.fullmatch(value):
        raise _Odd(f"{name} {value!r:.60} is no id")
    return value


def _optional(read: Callable[[Mapping[Any, Any], str], Read], row: Mapping[Any, Any], name: str) -> Read | None:
    return None if row.get(name) is None else read(row, name)
