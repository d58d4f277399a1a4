"""The only lines of the controller that change anything on a GPU: three of them, behind one lock."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.meters.devices import Board
from asyncenergy_controller.meters.nvml_library import explain

READ_ONLY = "ASYNCENERGY_GPU_READ_ONLY"


class WriteRefused(ControllerError):
    """A GPU setting was not changed; `reason` is a stable code, the message says why in words.

    Codes: `read_only`, `no_permission`, `driver_refused`, `out_of_range`, `unlike_boards`, `owner_limit`, `leftover`.
    """

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


def is_read_only(environ: Mapping[str, str] = os.environ) -> bool:
    """Say whether writing is switched off; any value but 0 switches it off."""
    return environ.get(READ_ONLY, "0").strip() not in {"", "0"}


def write_power_limit(nvml: Any, board: Board, limit_mw: int) -> None:
    """Set the board's power limit, in milliwatts. Raises WriteRefused."""
    _write(nvml, board, lambda: nvml.nvmlDeviceSetPowerManagementLimit(board.handle, limit_mw))


def write_clock_lock(nvml: Any, board: Board, clock_mhz: int) -> None:
    """Lock the board's graphics clock to one frequency. Raises WriteRefused."""
    _write(nvml, board, lambda: nvml.nvmlDeviceSetGpuLockedClocks(board.handle, clock_mhz, clock_mhz))


def write_clock_reset(nvml: Any, board: Board) -> None:
    """Let the board's clock go again. Raises WriteRefused."""
    _write(nvml, board, lambda: nvml.nvmlDeviceResetGpuLockedClocks(board.handle))


def _write(nvml: Any, board: Board, call: Callable[[], None]) -> None:
    if is_read_only():
        raise WriteRefused(f"{READ_ONLY} is set: {board.name} is left as it is", reason="read_only")
    try:
        call()
    except nvml.NVMLError as error:
        denied = isinstance(error, nvml.NVMLError_NoPermission)
        raise WriteRefused(
            f"{board.name} was not changed: {explain(error)}{'; root may do it' if denied else ''}",
            reason="no_permission" if denied else "driver_refused",
        ) from error
