"""The one door to NVML: loaded when a meter is opened, never shut down while the process lives."""

from typing import Any

from asyncenergy_controller.errors import MeterUnavailable
from asyncenergy_controller.meters.devices import Board

_EXPLAINED = {
    "NVMLError_NotSupported": "not supported by this GPU or driver",
    "NVMLError_NoPermission": "the driver refuses it to this user",
    "NVMLError_GpuIsLost": "the GPU is lost: look into the kernel log, then reboot",
    "NVMLError_ResetRequired": "the GPU needs a reset",
    "NVMLError_LibraryNotFound": "the NVIDIA driver is not installed (no NVML library)",
    "NVMLError_DriverNotLoaded": "the NVIDIA driver is not loaded",
    "NVMLError_LibRmVersionMismatch": "the NVIDIA driver was updated under the running one: reboot",
    "NVMLError_FunctionNotFound": "this driver is too old for it",
}


def _nvml() -> Any:
    """Return the `pynvml` module; tests put their own in its place here."""
    import pynvml

    return pynvml


def open_nvml() -> Any:
    """Return the initialised `pynvml` module. Raises MeterUnavailable where there is no working driver.

    Shutting down is left to the process's end: a shutdown after one task has made later ones read nothing.
    """
    nvml = _nvml()
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        raise MeterUnavailable(f"NVIDIA GPUs cannot be measured: {explain(error)}") from error
    return nvml


def explain(error: Exception) -> str:
    """Say in words what an NVML error means; its own words where we have none."""
    return _EXPLAINED.get(type(error).__name__, f"{error} ({type(error).__name__})")


def list_boards(nvml: Any) -> list[Board]:
    """Return every GPU that answers, in nvidia-smi's order, with the MIG slices of each.

    One that is lost, or not this user's, is left out. Raises MeterUnavailable with the reason where none answers.
    """
    try:
        count = nvml.nvmlDeviceGetCount()
    except nvml.NVMLError as error:
        raise MeterUnavailable(f"the GPUs cannot be listed: {explain(error)}") from error
    boards, silent = [], []
    for index in range(count):
        try:
            boards.append(_board(nvml, index))
        except nvml.NVMLError as error:
            silent.append(f"GPU {index}: {explain(error)}")
    if silent and not boards:
        raise MeterUnavailable(f"no GPU of NVIDIA answers: {'; '.join(silent)}")
    return boards


def _board(nvml: Any, index: int) -> Board:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    uuid, name = nvml.nvmlDeviceGetUUID(handle), nvml.nvmlDeviceGetName(handle)
    return Board(index, uuid, name, handle, _slices(nvml, handle))


def _slices(nvml: Any, handle: Any) -> tuple[str, ...]:
    try:
        count = nvml.nvmlDeviceGetMaxMigDeviceCount(handle)
    except nvml.NVMLError:
        return ()  # a GPU that cannot be sliced
    return tuple(uuid for index in range(count) if (uuid := _slice_uuid(nvml, handle, index)) is not None)


def _slice_uuid(nvml: Any, handle: Any, index: int) -> str | None:
    try:
        return str(nvml.nvmlDeviceGetUUID(nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index)))
    except nvml.NVMLError:
        return None  # an empty place between slices
