"""Which GPUs are meant: by index, by identifier, or as the environment of the vendor's runtime says."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from asyncenergy_controller.errors import DeviceNotFound, MeterUnavailable

ALL = "all"
CUDA_VISIBLE = "CUDA_VISIBLE_DEVICES"
MIG_NOTE = "a MIG slice has no energy meter of its own: energy and power are those of its whole board"


@dataclass(frozen=True, slots=True)
class Board:
    """One physical GPU."""

    index: int
    uuid: str
    name: str
    handle: Any = None
    slices: tuple[str, ...] = ()
    """Identifiers of the parts (MIG) it is divided into."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The boards to be measured together, each once, and what must be said about the choice."""

    boards: tuple[Board, ...]
    notes: dict[str, str] = field(default_factory=dict)


def select_boards(
    boards: Sequence[Board], device: str | None, environ: Mapping[str, str], variable: str = CUDA_VISIBLE
) -> Selection:
    """Choose by `device`, else by the environment's `variable`, else the only GPU there is.

    `device` is `all` or a comma list of indices (as nvidia-smi counts), of `GPU-…` and `MIG-…` identifiers, or of
    unambiguous beginnings of them. Raises DeviceNotFound for a device that is not there or a choice that is not clear.
    """
    if not boards:
        raise MeterUnavailable("the driver is loaded but lists no GPU")
    if device == ALL:
        return _selection(boards)
    if device is not None:
        return _select(_entries(device), boards)
    if variable in environ:
        return _select(_visible_entries(variable, boards, environ), boards)
    return _selection([_only(boards, variable)])


def _selection(boards: Iterable[Board]) -> Selection:
    """The boards in their order, each once: by index, since some cards of AMD share one identifier."""
    chosen = {board.index: board for board in boards}
    notes = {"device": MIG_NOTE} if any(board.slices for board in chosen.values()) else {}
    return Selection(tuple(board for _, board in sorted(chosen.items())), notes)


def _only(boards: Sequence[Board], variable: str) -> Board:
    if len(boards) > 1:
        raise DeviceNotFound(
            f"this machine has {len(boards)} GPUs: say with --device or {variable} which of them the engine uses, or "
            f"--device all. {_listed(boards)}"
        )
    return boards[0]


def _entries(device: str) -> list[str]:
    entries = [entry.strip() for entry in device.split(",")]
    if not all(entries):
        raise DeviceNotFound(f"--device {device!r} names no GPU: give an index, GPU-…, MIG-…, or all")
    return entries


def _visible_entries(variable: str, boards: Sequence[Board], environ: Mapping[str, str]) -> list[str]:
    """Read the variable as CUDA does: what stands after a -1 is hidden."""
    entries = [entry.strip() for entry in environ[variable].split(",")]
    if "-1" in entries:
        entries = entries[: entries.index("-1")]
    if not any(entries):
        raise MeterUnavailable(f"{variable}={environ[variable]!r} hides every GPU: unset it or give --device")
    if variable == CUDA_VISIBLE:
        _refuse_unclear_order(entries, boards, environ)
    return entries


def _refuse_unclear_order(entries: list[str], boards: Sequence[Board], environ: Mapping[str, str]) -> None:
    """CUDA counts the fastest GPU first by default, nvidia-smi by PCI slot: unlike GPUs may be swapped."""
    unlike = len({board.name for board in boards}) > 1
    if unlike and any(map(str.isdecimal, entries)) and environ.get("CUDA_DEVICE_ORDER") != "PCI_BUS_ID":
        raise DeviceNotFound(
            f"{CUDA_VISIBLE}={','.join(entries)} counts this machine's unlike GPUs in CUDA's order, not in "
            f"nvidia-smi's: set CUDA_DEVICE_ORDER=PCI_BUS_ID, or name the GPU by GPU-…. {_listed(boards)}"
        )


def _select(entries: list[str], boards: Sequence[Board]) -> Selection:
    return _selection(_find(entry, boards) for entry in entries)


def _find(entry: str, boards: Sequence[Board]) -> Board:
    found = [board for board in boards if _is_meant(entry, board)]
    if len(found) != 1:
        problem = "matches several GPUs" if found else "is not a GPU of this machine"
        raise DeviceNotFound(f"device {entry!r} {problem}. {_listed(boards)}")
    return found[0]


def _is_meant(entry: str, board: Board) -> bool:
    """Match an index, the beginning of an identifier, and the older `MIG-GPU-<uuid>/<instance>/<instance>`."""
    if entry.isdecimal():
        return board.index == int(entry)
    wanted = entry.lower()
    if wanted.startswith("mig-gpu-"):
        return board.uuid.lower() == wanted.removeprefix("mig-").partition("/")[0]
    return bool(wanted) and any(name.lower().startswith(wanted) for name in (board.uuid, *board.slices))


def _listed(boards: Sequence[Board]) -> str:
    return "Here are: " + "; ".join(f"{board.index} = {board.name} ({board.uuid})" for board in boards)
