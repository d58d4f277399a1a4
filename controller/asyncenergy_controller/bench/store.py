"""Runs on disk. Everything is written as it happens, and nothing here ever deletes.

<data_dir>/runs/<utc>-<id>/
    plan.json     what was to be done
    status.json   what became of it
    run.json      figures, once there are some
    bundle.json   what may be submitted
    parts/000-arith/   part.json, trace.jsonl, items.jsonl, events.jsonl; one part a unit and start
"""

import math
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any, Literal, Self

from pydantic import ValidationError

from asyncenergy_controller import clock
from asyncenergy_controller.bench.plan import Plan
from asyncenergy_controller.errors import ControllerError, ExitCode
from asyncenergy_controller.files import (
    FileUnreadable,
    LineWriter,
    lock,
    read_json,
    read_lines,
    write_json,
    write_lines,
)
from asyncenergy_controller.meters.base import Reading

State = Literal["running", "interrupted", "stopped", "failed", "finished"]


class RunNotFound(ControllerError):
    """No run has this id, or several do."""

    exit_code = ExitCode.USAGE


class RunBusy(ControllerError):
    """Another process is at work in this run."""


@dataclass(frozen=True)
class ItemRow:
    """One question asked. Times are `clock.monotonic()`; a token count of None was not told by the engine."""

    index: int
    t_start_s: float
    t_end_s: float
    correct: float
    finish_reason: str
    prompt_tokens: int | None = None
    cached_prompt_tokens: int | None = None
    completion_tokens: int | None = None
    answer: str | None = None
    ttft_s: float | None = None
    streamed: bool = False
    completion: str = ""
    error: str | None = None


@dataclass(frozen=True)
class PhaseRow:
    """One stretch of the ledger; `t_end_s` is None where the process ended in it."""

    phase: str
    t_start_s: float
    t_end_s: float | None


@dataclass(frozen=True)
class Part:
    """One measured stretch of a unit, read back from disk."""

    path: Path
    unit_index: int
    header: dict[str, Any]
    readings: tuple[Reading, ...]
    items: tuple[ItemRow, ...]
    phases: tuple[PhaseRow, ...]
    notes: tuple[str, ...]


class PartWriter:
    """Appends to one part; every line is on its way to the disk when the call returns."""

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        path.mkdir(parents=True)
        self.path = path
        self.write_header(header)
        self._trace, self._items, self._events = (
            LineWriter(path / name) for name in ("trace.jsonl", "items.jsonl", "events.jsonl")
        )

    def write_header(self, header: dict[str, Any]) -> None:
        write_json(self.path / "part.json", header)

    def add_reading(self, reading: Reading) -> None:
        self._trace.add(_trace_row(reading))

    def write_trace(self, readings: Sequence[Reading]) -> None:
        """Write all of them once more, where some could not be written as they came: the disk was full for a while."""
        write_lines(self.path / "trace.jsonl", map(_trace_row, readings))

    def add_item(self, row: ItemRow) -> None:
        self._items.add(asdict(row))

    def enter_phase(self, phase: str) -> None:
        """Begin a phase; the one before ends at the same instant."""
        self._events.add({"event": "phase", "phase": phase, "t_s": clock.monotonic()})

    def end_phases(self) -> None:
        self._events.add({"event": "phase", "phase": None, "t_s": clock.monotonic()})

    def note(self, text: str) -> None:
        self._events.add({"event": "note", "text": text, "t_s": clock.monotonic()})

    def void_items(self, indices: list[int]) -> None:
        """Take back items that were never answered, so that a resumed run asks them again."""
        if indices:
            self._events.add({"event": "void", "indices": indices, "t_s": clock.monotonic()})

    def close(self) -> None:
        for writer in (self._trace, self._items, self._events):
            writer.close()


def _trace_row(reading: Reading) -> dict[str, Any]:
    """A channel that is None is left out of its line."""
    row = ((field.name, getattr(reading, field.name)) for field in fields(Reading))
    return {name: value for name, value in row if value is not None}


def read_part(path: Path) -> Part:
    """Read what there is, also where the process that wrote it was killed.

    An item counts once it was answered and metered to its end: what ended after the last reading is asked again.
    """
    events = list(read_lines(path / "events.jsonl"))
    void = {index for event in events if event["event"] == "void" for index in event["indices"]}
    items = (ItemRow(**row) for row in read_lines(path / "items.jsonl"))
    readings = tuple(Reading(**row) for row in read_lines(path / "trace.jsonl"))
    metered_until_s = readings[-1].t_s if readings else -math.inf
    return Part(
        path=path,
        unit_index=int(path.name.split("-", 1)[0]),
        header=read_json(path / "part.json"),
        readings=readings,
        items=tuple(row for row in items if row.index not in void and row.t_end_s <= metered_until_s),
        phases=tuple(_phases([event for event in events if event["event"] == "phase"])),
        notes=tuple(event["text"] for event in events if event["event"] == "note"),
    )


def _phases(marks: list[dict[str, Any]]) -> Iterator[PhaseRow]:
    for mark, following in zip_longest(marks, marks[1:]):
        if mark["phase"]:
            yield PhaseRow(mark["phase"], mark["t_s"], following["t_s"] if following else None)


class RunDir:
    """One benchmark on disk. As a context it is released at the end, where this process holds it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def begun(self) -> tuple[str, int]:
        """When it began: the second in its id, and between runs of one second the time its plan was written."""
        return self.id.partition("-")[0], (self.path / "plan.json").stat().st_mtime_ns

    @property
    def plan(self) -> Plan:
        """Raises FileUnreadable."""
        path = self.path / "plan.json"
        try:
            return Plan.model_validate(read_json(path))
        except ValidationError as error:
            raise FileUnreadable(f"{path} is no plan that this version knows ({error}); move that run away.") from error

    @property
    def bundle_path(self) -> Path:
        return self.path / "bundle.json"

    def hold(self) -> None:
        """Take this run for this process. Raises RunBusy."""
        self._lock = lock(self.path / ".lock")
        if self._lock is None:
            raise RunBusy(f"Another process is at work in run {self.id}; wait for it, or stop it.")

    def release(self) -> None:
        if self._lock:
            self._lock.close()
            self._lock = None

    def set_status(self, state: State, reason: str | None = None) -> None:
        at = clock.now().isoformat(timespec="seconds")
        write_json(self.path / "status.json", {"state": state, "reason": reason, "at": at})

    @property
    def status(self) -> tuple[State, str | None]:
        """State and reason. A run left `running` by a process that is gone was interrupted."""
        status = read_json(self.path / "status.json")
        state, reason = status["state"], status["reason"]
        if state == "running" and self._lock is None and (held := lock(self.path / ".lock")):
            held.close()
            return "interrupted", "the process that ran it ended before the run did"
        return state, reason

    def new_part(self, unit_index: int, label: str, header: dict[str, Any]) -> PartWriter:
        """A fresh directory: what an earlier start left of the same unit stays as it is."""
        starts = len(list(self.path.glob(f"parts/{unit_index:03}-*")))  # also where a crash came before its part.json
        suffix = f".{starts}" if starts else ""
        return PartWriter(self.path / "parts" / f"{unit_index:03}-{label}{suffix}", header)

    def _part_paths(self) -> list[Path]:
        return sorted(path.parent for path in self.path.glob("parts/*/part.json"))

    def parts(self) -> list[Part]:
        return [read_part(path) for path in self._part_paths()]

    def answered(self, unit_index: int) -> set[int]:
        """Indices of the items of this unit that have been asked and need not be asked again."""
        parts = (read_part(path) for path in self._part_paths() if path.name.startswith(f"{unit_index:03}-"))
        return {row.index for part in parts for row in part.items}

    @property
    def n_answered(self) -> int:
        """Items asked so far, in all parts."""
        return sum(len(read_part(path).items) for path in self._part_paths())

    def skip(self, unit_index: int, reason: str) -> None:
        """Note that a unit could not be measured on this machine."""
        write_json(self.path / "skipped.json", self.skipped | {str(unit_index): reason})

    @property
    def skipped(self) -> dict[str, str]:
        """Unit index → why it was not measured."""
        path = self.path / "skipped.json"
        return dict(read_json(path)) if path.exists() else {}


class RunStore:
    """All runs of one data directory."""

    def __init__(self, data_dir: Path) -> None:
        self.root = data_dir / "runs"

    def create(self, plan: Plan) -> RunDir:
        """Write the plan down before anything runs."""
        started = clock.now().strftime("%Y%m%dT%H%M%SZ")
        run = RunDir(self.root / f"{started}-{secrets.token_hex(3)}")
        write_json(run.path / "plan.json", plan.model_dump(mode="json"))
        run.hold()
        run.set_status("running")
        return run

    def all(self) -> list[RunDir]:
        """Newest first."""
        runs = [RunDir(path.parent) for path in self.root.glob("*/status.json")]
        return sorted(runs, key=lambda run: run.begun, reverse=True)

    def find(self, reference: str) -> RunDir:
        """By id, the start or end of an id, or `last`. Raises RunNotFound."""
        runs = self.all()
        if reference == "last":
            found = runs[:1]
        else:
            found = [run for run in runs if run.id.startswith(reference) or run.id.endswith(f"-{reference}")]
        if len(found) == 1:
            return found[0]
        known = ", ".join(run.id for run in (found or runs)[:5]) or "none yet"
        raise RunNotFound(f"{'Several runs match' if found else 'No run is called'} {reference!r}; there are: {known}.")

    def latest_unfinished(self, suite: str) -> RunDir | None:
        """The newest run of this suite that can be resumed."""
        return next((run for run in self.all() if run.plan.suite == suite and run.status[0] != "finished"), None)
