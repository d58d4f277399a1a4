"""What every meter gives: readings, and what they are readings of."""

from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Reading:
    """All channels at one instant. None means that it cannot be measured now; it never means 0."""

    t_s: float
    """`clock.monotonic()` of the reading."""
    gpu_power_w: float | None = None
    """Power for integration, of all selected devices together."""
    power_field: str | None = None
    """Which field of the driver `gpu_power_w` is: "average", "default", "instant"..."""
    gpu_power_instant_w: float | None = None
    """Power for peaks; never integrated."""
    gpu_energy_mj: float | None = None
    """Energy counter as the device gives it, in millijoules since the driver was loaded."""
    cpu_energy_uj: float | None = None
    """Energy counter of all CPU packages, in microjoules."""
    wall_power_w: float | None = None
    gpu_util_pct: float | None = None
    gpu_mem_util_pct: float | None = None
    gpu_mem_used_mib: float | None = None
    gpu_temp_c: float | None = None
    sm_clock_mhz: float | None = None
    throttle_mask: int | None = None
    """NVML's clock event reasons, or-ed over the devices."""
    other_processes: int | None = None
    """Compute processes on the devices besides the engine's."""

    def __post_init__(self) -> None:
        """A binding that answers NaN or infinity has measured nothing."""
        for channel in fields(self):
            value = getattr(self, channel.name)
            if isinstance(value, float) and not isfinite(value):
                object.__setattr__(self, channel.name, None)


@dataclass(frozen=True, slots=True)
class MeterInfo:
    """What is measured, and how."""

    meter: str
    energy_source: str | None = None
    energy_boundary: str | None = None
    device_kind: str = "gpu"
    """"gpu", "cpu" or "soc"."""
    device_count: int = 1
    device_name: str | None = None
    driver_version: str | None = None
    cuda_version: str | None = None
    power_limit_w: float | None = None
    """Limit in force now, of all selected devices together; so is `stock_power_limit_w`, the factory default."""
    stock_power_limit_w: float | None = None
    vram_gb: float | None = None
    """Memory of all selected devices together, in GiB."""
    counter_period_s: float | None = None
    """How often the energy counter moves, where the meter knows it."""
    cpu_energy_range_uj: float | None = None
    """Where `cpu_energy_uj` wraps around."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Channel → why it was null, the last time it was."""


class Meter(Protocol):
    """One way to measure. Made by `select.open_meter`; used by one thread at a time."""

    name: str

    def info(self) -> MeterInfo:
        """Return what is measured; may be asked again, and then knows what the readings so far have shown."""
        ...

    def read(self) -> Reading:
        """Return all channels now. Raises MeterError only where nothing at all can be read."""
        ...

    def close(self) -> None:
        """Give back what this meter alone holds."""
        ...
