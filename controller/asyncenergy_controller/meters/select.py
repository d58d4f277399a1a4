"""Open the meter that this machine has."""

from collections.abc import Collection

from asyncenergy_controller.errors import MeterUnavailable, UsageError
from asyncenergy_controller.meters.amd import AmdMeter
from asyncenergy_controller.meters.apple import AppleMeter
from asyncenergy_controller.meters.base import Meter
from asyncenergy_controller.meters.combined import CombinedMeter
from asyncenergy_controller.meters.null import NullMeter
from asyncenergy_controller.meters.nvidia_smi import NvidiaSmiMeter
from asyncenergy_controller.meters.nvml import NvmlMeter
from asyncenergy_controller.meters.plugs.select import open_wall_meter
from asyncenergy_controller.meters.rapl import RaplMeter
from asyncenergy_controller.meters.simulated import SimulatedMeter

GPU_KINDS = ("nvml", "nvidia-smi", "amd")
AUTO_KINDS = (*GPU_KINDS, "apple", "rapl")
KINDS = ("auto", *AUTO_KINDS, "simulated", "null")


def open_meter(
    kind: str = "auto",
    device: str | None = None,
    *,
    own_pids: Collection[int] = (),
    wall: str | None = None,
    wall_secret: str | None = None,
    every_counter_read: bool = False,
) -> Meter:
    """Open a meter; `auto` takes the first of NVML, nvidia-smi, AMD, Apple and RAPL that works, else measures nothing.

    `device` chooses the GPUs (`0`, `0,1`, `GPU-…`, `MIG-…`, `all`). `own_pids` are the engine's processes. `wall` is a
    plug to read beside it, as `open_wall_meter` takes it. A GPU meter carries the CPU's counter along where that is
    readable. `every_counter_read` reads NVML's slow counter each time, to find out how often it moves. Raises
    MeterUnavailable for a named kind that does not work here, DeviceNotFound for a device that is not here.
    """
    plug = open_wall_meter(wall, wall_secret) if wall else None
    base = _first_that_works(device, own_pids) if kind == "auto" else _open(kind, device, own_pids)
    if every_counter_read and isinstance(base, NvmlMeter):
        base.counter_every_s = 0.0
    cpu = _cpu_counter() if base.name in GPU_KINDS else None
    return base if cpu is None and plug is None else CombinedMeter(base, cpu=cpu, wall=plug)


def _open(kind: str, device: str | None, own_pids: Collection[int]) -> Meter:
    match kind:
        case "nvml":
            return NvmlMeter(device, own_pids=own_pids)
        case "nvidia-smi":
            return NvidiaSmiMeter(device)
        case "amd":
            return AmdMeter(device, own_pids=own_pids)
        case "apple":
            return AppleMeter()
        case "rapl":
            return RaplMeter()
        case "simulated":
            return SimulatedMeter()
        case "null":
            return NullMeter()
    raise UsageError(f"there is no meter {kind!r}: choose one of {', '.join(KINDS)}")


def _first_that_works(device: str | None, own_pids: Collection[int]) -> Meter:
    """A GPU that was named is never replaced by something else; without one, the reasons stay readable."""
    reasons = []
    for kind in AUTO_KINDS if device is None else GPU_KINDS:
        try:
            return _open(kind, device, own_pids)
        except MeterUnavailable as error:
            reasons.append(error.message)
    if device is not None:
        raise MeterUnavailable(f"device {device!r} cannot be measured: {'; '.join(reasons)}")
    return NullMeter("; ".join(reasons))


def _cpu_counter() -> Meter | None:
    try:
        return RaplMeter()
    except MeterUnavailable:
        return None
