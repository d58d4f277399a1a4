"""Which GPUs are meant: by index, by `GPU-…`, by `MIG-…`, as CUDA itself reads them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from asyncenergy_controller.errors import DeviceNotFound, MeterUnavailable

ALL = "all"
VISIBLE = "CUDA_VISIBLE_DEVICES"
MIG_NOTE = "a MIG slice has no energy meter of its own: energy and power are those of its whole board"


@dataclass(frozen=True, slots=True)
class Board:
    """One physical GPU."""

    index: int
    uuid: str
    name: str
    handle: Any


@dataclass(frozen=True, slots=True)
class Selection:
    """The boards to be measured together, each once, and what must be said about the choice."""

    boards: tuple[Board, ...]
    notes: dict[str, str] = field(default_factory=dict)


def select_boards(nvml: Any, device: str | None, environ: Mapping[str, str]) -> Selection:
    """Choose by `device`, else by `CUDA_VISIBLE_DEVICES`, else the only GPU there is.

    `device` is `all` or a comma list of nvidia-smi indices, `GPU-…` and `MIG-…` identifiers or unambiguous beginnings
    of them. Raises DeviceNotFound for a device that is not there and for a choice that is not clear.
    """
    boards = list_boards(nvml)
    if not boards:
        raise MeterUnavailable("the NVIDIA driver is loaded but lists no GPU")
    wanted = device if device is not None else environ.get(VISIBLE)
    if wanted is None:
        return Selection((_only(boards),))
    if device == ALL:
        return Selection(tuple(boards))
    entries = _entries(device) if device is not None else _visible_entries(wanted, boards, environ)
    return _select(nvml, entries, boards)


def list_boards(nvml: Any) -> list[Board]:
    """Return every GPU of this machine in nvidia-smi's order."""
    handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]
    return [Board(i, nvml.nvmlDeviceGetUUID(h), nvml.nvmlDeviceGetName(h), h) for i, h in enumerate(handles)]


def _only(boards: list[Board]) -> Board:
    if len(boards) > 1:
        raise DeviceNotFound(
            f"this machine has {len(boards)} GPUs: say with --device or {VISIBLE} which of them the engine uses, or "
            f"--device all. {_listed(boards)}"
        )
    return boards[0]


def _entries(device: str) -> list[str]:
    entries = [entry.strip() for entry in device.split(",")]
    if not all(entries):
        raise DeviceNotFound(f"--device {device!r} names no GPU: give an index, GPU-…, MIG-…, or all")
    return entries


def _visible_entries(visible: str, boards: list[Board], environ: Mapping[str, str]) -> list[str]:
    """Read the variable as CUDA does: what stands after a -1 is hidden."""
    entries = [entry.strip() for entry in visible.split(",")]
    if "-1" in entries:
        entries = entries[: entries.index("-1")]
    if not any(entries):
        raise MeterUnavailable(f"{VISIBLE}={visible!r} hides every GPU: unset it or give --device")
    _refuse_unclear_order(entries, boards, environ)
    return entries


def _refuse_unclear_order(entries: list[str], boards: list[Board], environ: Mapping[str, str]) -> None:
    """CUDA counts the fastest GPU first by default, nvidia-smi by PCI slot: unlike GPUs may be swapped."""
    unlike = len({board.name for board in boards}) > 1
    if unlike and any(map(str.isdecimal, entries)) and environ.get("CUDA_DEVICE_ORDER") != "PCI_BUS_ID":
        raise DeviceNotFound(
            f"{VISIBLE}={','.join(entries)} counts this machine's unlike GPUs in CUDA's order, not in nvidia-smi's: "
            f"set CUDA_DEVICE_ORDER=PCI_BUS_ID, or name the GPU by GPU-…. {_listed(boards)}"
        )


def _select(nvml: Any, entries: list[str], boards: list[Board]) -> Selection:
    chosen: dict[str, Board] = {}
    notes: dict[str, str] = {}
    for entry in entries:
        board = _find(nvml, entry, boards)
        chosen[board.uuid] = board
        if entry.upper().startswith("MIG-"):
            notes["device"] = MIG_NOTE
    return Selection(tuple(sorted(chosen.values(), key=lambda board: board.index)), notes)


def _find(nvml: Any, entry: str, boards: list[Board]) -> Board:
    if entry.isdecimal():
        found = [board for board in boards if board.index == int(entry)]
    elif entry.upper().startswith("MIG-"):
        found = [board for board in boards if _has_slice(nvml, board, entry)]
    else:
        found = [board for board in boards if entry and board.uuid.lower().startswith(entry.lower())]
    if len(found) != 1:
        problem = "matches several GPUs" if found else "is not a GPU of this machine"
        raise DeviceNotFound(f"device {entry!r} {problem}. {_listed(boards)}")
    return found[0]


def _has_slice(nvml: Any, board: Board, entry: str) -> bool:
    """Match `MIG-<uuid>`, and the older `MIG-GPU-<uuid>/<gpu instance>/<compute instance>`."""
    if entry.upper().startswith("MIG-GPU-"):
        return board.uuid.lower() == entry[len("MIG-") :].partition("/")[0].lower()
    return any(uuid.lower().startswith(entry.lower()) for uuid in _slice_uuids(nvml, board))


def _slice_uuids(nvml: Any, board: Board) -> Iterator[str]:
    try:
        count = nvml.nvmlDeviceGetMaxMigDeviceCount(board.handle)
    except nvml.NVMLError:
        return  # a GPU that cannot be sliced has no slices
    for index in range(count):
        try:
            yield nvml.nvmlDeviceGetUUID(nvml.nvmlDeviceGetMigDeviceHandleByIndex(board.handle, index))
        except nvml.NVMLError:
            continue  # the places between slices are empty


def _listed(boards: list[Board]) -> str:
    return "Here are: " + "; ".join(f"{board.index} = {board.name} ({board.uuid})" for board in boards)
