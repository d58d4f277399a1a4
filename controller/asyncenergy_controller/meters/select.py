"""Open the meter that this machine has."""

from collections.abc import Collection

from asyncenergy_controller.errors import MeterUnavailable, UsageError
from asyncenergy_controller.meters.base import Meter
from asyncenergy_controller.meters.null import NullMeter
from asyncenergy_controller.meters.nvml import NvmlMeter
from asyncenergy_controller.meters.rapl import RaplMeter
from asyncenergy_controller.meters.simulated import SimulatedMeter

KINDS = ("auto", "nvml", "rapl", "simulated", "null")


def open_meter(kind: str = "auto", device: str | None = None, *, own_pids: Collection[int] = ()) -> Meter:
    """Open a meter; `auto` takes the first of NVML and RAPL that works, and else measures nothing.

    `device` chooses the GPUs (`0`, `0,1`, `GPU-…`, `MIG-…`, `all`). `own_pids` are the engine's processes. Raises
    MeterUnavailable for a named kind that does not work here, DeviceNotFound for a device that is not here.
    """
    match kind:
        case "auto":
            return _first_that_works(device, own_pids)
        case "nvml":
            return NvmlMeter(device, own_pids=own_pids)
        case "rapl":
            return RaplMeter()
        case "simulated":
            return SimulatedMeter()
        case "null":
            return NullMeter()
    raise UsageError(f"there is no meter {kind!r}: choose one of {', '.join(KINDS)}")


def _first_that_works(device: str | None, own_pids: Collection[int]) -> Meter:
    reasons = []
    for kind in ("nvml", "rapl"):
        try:
            return open_meter(kind, device, own_pids=own_pids)
        except MeterUnavailable as error:
            if device is not None:
                raise
            reasons.append(error.message)
    return NullMeter("; ".join(reasons))
