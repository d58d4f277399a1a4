"""Lower a GPU's power limit, or lock its clock, and put it back whatever happens."""

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import psutil

from asyncenergy_controller.errors import MeterUnavailable
from asyncenergy_controller.liveness import mark_of
from asyncenergy_controller.meters.devices import Board, select_boards
from asyncenergy_controller.meters.gpu_writes import (
    READ_ONLY,
    WriteRefused,
    is_read_only,
    write_clock_lock,
    write_clock_reset,
    write_power_limit,
)
from asyncenergy_controller.meters.nvml_library import explain, list_boards, open_nvml
from asyncenergy_controller.meters.power_journal import Entry, Journal, JournalBroken, load

Policy = Literal["preserve", "managed"]
SLACK_MW = 1000
"""A driver may round a limit to its own steps."""


@dataclass(frozen=True, slots=True)
class PowerRange:
    """Limits of one board, in watts."""

    default_w: float
    """The factory default, from which every cap is derived."""
    current_w: float
    min_w: float
    max_w: float


@dataclass(frozen=True, slots=True)
class Healing:
    """One leftover of an earlier run, and what became of it."""

    healed: bool
    message: str


class PowerControl:
    """Changes the selected boards together; the end of the `with` block puts them back.

    `preserve` keeps below the limit that was found, and puts that one back; `managed` puts back the factory default.
    """

    def __init__(
        self,
        journal_folder: Path,
        device: str | None = None,
        *,
        policy: Policy = "preserve",
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """Choose the boards as the meter does. Raises MeterUnavailable, DeviceNotFound."""
        self._managed = policy == "managed"
        self._nvml = open_nvml()
        self._boards = select_boards(list_boards(self._nvml), device, environ).boards
        self._journal = Journal(journal_folder)

    def limits(self) -> PowerRange:
        """Return what the boards allow. Raises WriteRefused where they differ or do not say."""
        ranges = {_range(self._nvml, board) for board in self._boards}
        if len(ranges) > 1:
            raise WriteRefused("the selected GPUs have different power limits: choose one", reason="unlike_boards")
        return ranges.pop()

    def why_not(self) -> str | None:
        """Say why the limit cannot be lowered here, as far as that shows without trying; None where nothing shows."""
        try:
            limits = self.limits()
            self._check(limits.min_w)
        except WriteRefused as error:
            return error.message
        if hasattr(os, "geteuid") and os.geteuid() != 0:
            return "only root may lower the power limit"
        return None

    def set_limit_w(self, watts: float) -> None:
        """Set the limit of every board. Raises WriteRefused, and then the boards are as they were found."""
        self._check(watts)
        limit_mw = round(1000 * watts)
        with self._journal.alone():
            self._refuse_others()
            for board in self._boards:
                entry = self._entry(board)
                intended = replace(entry, set_mw=(*entry.set_mw, limit_mw))
                self._change(board, intended, partial(write_power_limit, self._nvml, board, limit_mw))
                self._keep(board, limit_mw)

    def lock_clock_mhz(self, clock_mhz: int) -> None:
        """Lock the clock of every board. Raises WriteRefused, and then the boards are as they were found.

        A lock that the owner had set cannot be seen, and is gone afterwards.
        """
        with self._journal.alone():
            self._refuse_others()
            for board in self._boards:
                intended = replace(self._entry(board), clock_locked=True)
                self._change(board, intended, partial(write_clock_lock, self._nvml, board, clock_mhz))

    def restore(self) -> None:
        """Put every board back that this process changed, each whatever becomes of the others.

        Raises WriteRefused where one could not be; its journal stays for healing.
        """
        with ExitStack() as each:
            for board in self._boards:
                each.callback(self._restore, board)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.restore()

    def _restore(self, board: Board) -> None:
        entry = self._journal.read(board.uuid)
        if entry is None or not entry.is_ours():
            return
        try:
            _put_back(self._nvml, self._journal, board, entry)
        except WriteRefused as error:
            raise WriteRefused(
                f"{board.name} could not be put back: {error.message}. The next start tries again. {_by_hand(entry)}",
                reason=error.reason,
            ) from error

    def _entry(self, board: Board) -> Entry:
        """Return what the journal knows of the board, or what it is to know from now on."""
        limits = _range(self._nvml, board)
        restore_w = limits.default_w if self._managed else min(limits.current_w, limits.default_w)
        return self._journal.read(board.uuid) or Entry(
            uuid=board.uuid,
            name=board.name,
            before_mw=round(1000 * limits.current_w),
            restore_mw=round(1000 * restore_w),
            pid=os.getpid(),
            pid_created_s=psutil.Process().create_time(),
            pid_mark=mark_of(os.getpid()),
        )

    def _change(self, board: Board, intended: Entry, write: Callable[[], None]) -> None:
        """Write the journal, then the board; a refused write leaves no trace in either.

        What the driver has changed though it reports an error is put back; where it does not say, the journal stays.
        """
        previous, before_mw = self._journal.read(board.uuid), _limit_mw(self._nvml, board)
        self._journal.write(intended)
        try:
            write()
        except WriteRefused:
            if _same(_limit_mw(self._nvml, board), before_mw):
                self._roll_back(board, previous)
            self.restore()
            raise

    def _roll_back(self, board: Board, previous: Entry | None) -> None:
        if previous is None:
            self._journal.clear(board.uuid)
        else:
            self._journal.write(previous)

    def _keep(self, board: Board, limit_mw: int) -> None:
        """Refuse what the driver made of our limit: it is ours as well, and must not be taken for somebody else's."""
        try:
            _verify(self._nvml, board, limit_mw)
        except WriteRefused:
            entry = self._entry(board)
            self._journal.write(replace(entry, set_mw=(*entry.set_mw, _limit_mw(self._nvml, board))))
            self.restore()
            raise

    def _check(self, watts: float) -> None:
        self._refuse_others()
        limits = self.limits()
        if not limits.min_w <= watts <= limits.default_w:
            raise WriteRefused(
                f"{watts:g} W is outside {limits.min_w:g} W .. {limits.default_w:g} W, the card's lowest limit and its "
                "factory default",
                reason="out_of_range",
            )
        if not self._managed:
            self._keep_below_owner(watts, limits)

    def _keep_below_owner(self, watts: float, limits: PowerRange) -> None:
        owner_w = min(self._entry(board).before_mw for board in self._boards) / 1000
        if owner_w > limits.default_w or watts > owner_w:
            raise WriteRefused(
                f"the limit was found at {owner_w:g} W (factory default {limits.default_w:g} W). The policy "
                "'preserve' neither goes above it nor takes a raised one away: power_cap_policy = 'managed' uses the "
                "factory default",
                reason="owner_limit",
            )

    def _refuse_others(self) -> None:
        """Refuse where writing is switched off, or where somebody else's change is not put back yet."""
        if is_read_only():
            raise WriteRefused(f"{READ_ONLY} is set: no GPU is changed", reason="read_only")
        entries = [self._journal.read(board.uuid) for board in self._boards]
        for entry in entries:
            if entry is not None and not entry.is_ours():
                whose = f"process {entry.pid} is changing" if entry.is_alive() else "an interrupted run has changed"
                raise WriteRefused(f"{whose} {entry.name}, which is not put back yet", reason="leftover")


def heal_leftovers(journal_folder: Path) -> list[Healing]:
    """Put back what interrupted runs left changed, and report each; called at every start of the controller."""
    journal = Journal(journal_folder)
    return [healing for path in journal.paths() if (healing := _heal(journal, path)) is not None]


def put_back_ours(journal_folder: Path) -> None:
    """Put back at once what this process changed, because it is about to end. Raises WriteRefused, MeterUnavailable."""
    entries = map(load, Journal(journal_folder).paths())
    if ours := [entry.uuid for entry in entries if entry.is_ours()]:
        PowerControl(journal_folder, ",".join(ours)).restore()


def _heal(journal: Journal, path: Path) -> Healing | None:
    """Heal one leftover; None where its process still runs, or another start has healed it meanwhile."""
    try:
        entry = load(path)
    except JournalBroken as error:
        return Healing(False, error.message)
    if entry.is_alive():
        return None
    try:
        with journal.alone():
            return _heal_entry(journal, entry) if journal.read(entry.uuid) == entry else None
    except (MeterUnavailable, WriteRefused, OSError) as error:
        why = str(error).removesuffix(".")
        return Healing(False, f"{entry.name} may still be as an interrupted run left it: {why}. {_by_hand(entry)}")


def _heal_entry(journal: Journal, entry: Entry) -> Healing:
    nvml = open_nvml()
    board = next((board for board in list_boards(nvml) if board.uuid == entry.uuid), None)
    if board is None:
        return Healing(False, f"{entry.name} was changed by an interrupted run, and is not in this machine now")
    return Healing(True, f"{entry.name}: {_put_back(nvml, journal, board, entry)}")


def _put_back(nvml: Any, journal: Journal, board: Board, entry: Entry) -> str:
    """Undo an entry and forget it. Returns what was done."""
    try:
        done = _put_limit_back(nvml, board, entry)
    finally:  # neither may keep the other from being undone
        if entry.clock_locked:
            write_clock_reset(nvml, board)
    journal.clear(entry.uuid)
    return f"{done}; its clock is free again" if entry.clock_locked else done


def _put_limit_back(nvml: Any, board: Board, entry: Entry) -> str:
    """A limit that somebody else has set since is theirs."""
    found_mw = _limit_mw(nvml, board)
    if not any(_same(found_mw, ours_mw) for ours_mw in entry.set_mw):
        return f"the power limit is {found_mw / 1000:g} W, which no run of ours has set, and stays"
    if not _same(found_mw, entry.restore_mw):
        write_power_limit(nvml, board, entry.restore_mw)
        _verify(nvml, board, entry.restore_mw)
    return f"the power limit was {found_mw / 1000:g} W and is {entry.restore_mw / 1000:g} W again"


def _same(one_mw: int, other_mw: int) -> bool:
    return abs(one_mw - other_mw) <= SLACK_MW


def _verify(nvml: Any, board: Board, limit_mw: int) -> None:
    """Raise WriteRefused where the driver took a limit and keeps another."""
    now_mw = _limit_mw(nvml, board)
    if not _same(now_mw, limit_mw):
        raise WriteRefused(
            f"{board.name} was told {limit_mw / 1000:g} W and keeps {now_mw / 1000:g} W", reason="driver_refused"
        )


def _by_hand(entry: Entry) -> str:
    unlock = f"sudo nvidia-smi -i {entry.uuid} -rgc; " if entry.clock_locked else ""
    return f"By hand: {unlock}sudo nvidia-smi -i {entry.uuid} -pl {entry.restore_mw / 1000:g}"


def _range(nvml: Any, board: Board) -> PowerRange:
    try:
        min_mw, max_mw = nvml.nvmlDeviceGetPowerManagementLimitConstraints(board.handle)
        default_mw = nvml.nvmlDeviceGetPowerManagementDefaultLimit(board.handle)
    except nvml.NVMLError as error:
        raise WriteRefused(
            f"{board.name} has no settable power limit: {explain(error)}", reason="driver_refused"
        ) from error
    return PowerRange(default_mw / 1000, _limit_mw(nvml, board) / 1000, min_mw / 1000, max_mw / 1000)


def _limit_mw(nvml: Any, board: Board) -> int:
    try:
        return int(nvml.nvmlDeviceGetPowerManagementLimit(board.handle))
    except nvml.NVMLError as error:
        raise WriteRefused(
            f"{board.name} does not say its power limit: {explain(error)}", reason="driver_refused"
        ) from error
