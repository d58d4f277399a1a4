"""NVIDIA GPUs through NVML: energy counter and power together, each channel failing alone."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from math import isfinite
from operator import or_
from statistics import fmean
from typing import Any

from asyncenergy_controller.clock import monotonic
from asyncenergy_controller.errors import MeterError
from asyncenergy_controller.meters.base import MeterInfo, Reading
from asyncenergy_controller.meters.devices import select_boards
from asyncenergy_controller.meters.nvml_library import explain, list_boards, open_nvml
from asyncenergy_controller.meters.processes import count_others

COUNTER_EVERY_S = 0.095
"""The counter moves every 100 ms and a read costs 4 ms: two readings closer than this share one."""
MIB = 2**20
GIB = 2**30

Combine = Callable[[Sequence[float]], float]


class NvmlMeter:
    """One or several boards as one: energy, power and memory are summed, temperature is the hottest."""

    name = "nvml"

    def __init__(
        self,
        device: str | None = None,
        *,
        own_pids: Collection[int] = (),
        environ: Mapping[str, str] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Open the boards that `device` or the environment names; see `devices.select_boards`.

        `own_pids` are the engine's processes: they and their children do not count as `other_processes`.
        """
        self._nvml = open_nvml()
        self.counter_every_s = COUNTER_EVERY_S
        self._clock = clock
        self._own_pids = own_pids
        selection = select_boards(list_boards(self._nvml), device, os.environ if environ is None else environ)
        self._boards = selection.boards
        self._reasons = dict(selection.notes)
        self._seen: set[str] = set()
        self._counter_read_s: float | None = None
        self._power_field = "average" if self._has_average_power() else "default"
        self._try_all_channels()

    def info(self) -> MeterInfo:
        names = list(dict.fromkeys(board.name for board in self._boards))
        return MeterInfo(
            meter=self.name,
            energy_source=self._energy_source(),
            energy_boundary="gpu_board",
            device_kind="gpu",
            device_count=len(self._boards),
            device_name=" + ".join(names),
            driver_version=self._fact("driver_version", self._nvml.nvmlSystemGetDriverVersion),
            cuda_version=self._cuda_version(),
            power_limit_w=self._sum("power_limit_w", self._nvml.nvmlDeviceGetPowerManagementLimit, 1000),
            stock_power_limit_w=self._sum(
                "stock_power_limit_w", self._nvml.nvmlDeviceGetPowerManagementDefaultLimit, 1000
            ),
            vram_gb=self._sum("vram_gb", lambda handle: self._nvml.nvmlDeviceGetMemoryInfo(handle).total, GIB),
            reasons=dict(self._reasons),
        )

    def read(self) -> Reading:
        """Return all channels now; the counter only where `counter_every_s` has passed since it was last read."""
        nvml = self._nvml
        now_s = self._clock()
        energy_mj = self._counter_mj(now_s)
        power_w = self._channel("gpu_power_w", self._power_w, sum)
        mask = self._channel("throttle_mask", nvml.nvmlDeviceGetCurrentClocksThrottleReasons, _any_bit)
        return Reading(
            t_s=now_s,
            gpu_power_w=power_w,
            power_field=None if power_w is None else self._power_field,
            gpu_power_instant_w=self._channel("gpu_power_instant_w", self._instant_power_w, sum),
            gpu_energy_mj=energy_mj,
            gpu_util_pct=self._channel("gpu_util_pct", lambda h: nvml.nvmlDeviceGetUtilizationRates(h).gpu, fmean),
            gpu_mem_util_pct=self._channel(
                "gpu_mem_util_pct", lambda h: nvml.nvmlDeviceGetUtilizationRates(h).memory, fmean
            ),
            gpu_mem_used_mib=self._sum("gpu_mem_used_mib", lambda h: nvml.nvmlDeviceGetMemoryInfo(h).used, MIB),
            gpu_temp_c=self._channel(
                "gpu_temp_c", lambda h: nvml.nvmlDeviceGetTemperature(h, nvml.NVML_TEMPERATURE_GPU), max
            ),
            sm_clock_mhz=self._channel(
                "sm_clock_mhz", lambda h: nvml.nvmlDeviceGetClockInfo(h, nvml.NVML_CLOCK_SM), fmean
            ),
            throttle_mask=None if mask is None else int(mask),
            other_processes=self._other_processes(),
        )

    def close(self) -> None:
        """Leave NVML initialised: later tasks of this process measure with it."""

    def _try_all_channels(self) -> None:
        """Learn which channels there are; the first reading of a caller still gets a counter of its own."""
        self.read()
        self._counter_read_s = None

    def _channel(self, channel: str, read_one: Callable[[Any], float], combine: Combine) -> float | None:
        """Read one channel of every board; None with a reason where any of them cannot give it."""
        try:
            value = _finite(float(combine([read_one(board.handle) for board in self._boards])))
        except self._nvml.NVMLError as error:
            self._reasons[channel] = explain(error)
        except MeterError as error:
            self._reasons[channel] = error.message
        else:
            self._seen.add(channel)
            return value
        return None

    def _sum(self, channel: str, read_one: Callable[[Any], float], unit: int) -> float | None:
        total = self._channel(channel, read_one, sum)
        return None if total is None else total / unit

    def _fact(self, channel: str, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except self._nvml.NVMLError as error:
            self._reasons[channel] = explain(error)
            return None

    def _counter_mj(self, now_s: float) -> float | None:
        if self._counter_read_s is not None and now_s - self._counter_read_s < self.counter_every_s:
            return None
        self._counter_read_s = now_s
        return self._channel("gpu_energy_mj", self._one_counter_mj, sum)

    def _one_counter_mj(self, handle: Any) -> float:
        return _not_zero(self._nvml.nvmlDeviceGetTotalEnergyConsumption(handle), "0 mJ since it was loaded")

    def _power_w(self, handle: Any) -> float:
        if self._power_field == "average":
            return self._field_w(handle, self._nvml.NVML_FI_DEV_POWER_AVERAGE)
        return _not_zero(self._nvml.nvmlDeviceGetPowerUsage(handle), "0 W") / 1000

    def _instant_power_w(self, handle: Any) -> float:
        return self._field_w(handle, self._nvml.NVML_FI_DEV_POWER_INSTANT)

    def _field_w(self, handle: Any, field_id: int) -> float:
        answer = self._nvml.nvmlDeviceGetFieldValues(handle, [field_id])[0]
        if answer.nvmlReturn != self._nvml.NVML_SUCCESS:
            raise self._nvml.NVMLError(answer.nvmlReturn)
        return _not_zero(answer.value.uiVal, "0 W") / 1000

    def _has_average_power(self) -> bool:
        """Decide once which field is integrated, so that one run never mixes two."""
        try:
            powers = [self._field_w(board.handle, self._nvml.NVML_FI_DEV_POWER_AVERAGE) for board in self._boards]
        except (self._nvml.NVMLError, MeterError):
            return False
        return bool(powers)

    def _other_processes(self) -> int | None:
        listed = self._fact("other_processes", self._listed_pids)
        if listed is None:
            return None
        count, reason = count_others(listed, self._own_pids)
        if reason is not None:
            self._reasons["other_processes"] = reason
        return count

    def _listed_pids(self) -> set[int]:
        list_of = self._nvml.nvmlDeviceGetComputeRunningProcesses
        return {process.pid for board in self._boards for process in list_of(board.handle)}

    def _energy_source(self) -> str | None:
        if "gpu_energy_mj" in self._seen:
            return "counter"
        return "integrated" if "gpu_power_w" in self._seen else None

    def _cuda_version(self) -> str | None:
        version = self._fact("cuda_version", self._nvml.nvmlSystemGetCudaDriverVersion_v2)
        return None if version is None else f"{version // 1000}.{version % 1000 // 10}"


def _not_zero(value: int, shown: str) -> int:
    """A powered board draws something: a zero is a reading that failed."""
    if not value:
        raise MeterError(f"the driver answered {shown}, which is no reading")
    return value


def _finite(value: float) -> float:
    if not isfinite(value):
        raise MeterError(f"the driver answered {value}, which is no reading")
    return value


def _any_bit(masks: Sequence[float]) -> int:
    return reduce(or_, map(int, masks))
