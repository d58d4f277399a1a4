"""An NVIDIA board that does not exist: NVML's functions over a load, and what can go wrong with them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any, Protocol

from asyncenergy_controller.meter_check.load import Load
from asyncenergy_controller.meter_check.replacing import Pair

COUNTER_START_MJ = 5_000_000_000
COUNTER_PERIOD_S = 0.1
COUNTER_COST_S = 0.004
"""What one reading of the energy counter takes on an H200."""
POWER_COST_S = 0.001
"""More than any driver needs, so that polling without a pause also comes to an end."""
UUID = "GPU-00000000-0000-0000-0000-000000000001"
LIMIT_MW = 700_000
MIB = 2**20


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong; times are seconds from the start of the first window's load."""

    has_counter: bool = True
    counter_reads_from_s: float | None = None
    counter_resets_at_s: float | None = None
    silent_s: tuple[float, float] | None = None
    """No reading of any kind is answered from here to there."""
    nan_every: int | None = None
    """Each so-manieth power reading is not a number."""
    suspend_s: tuple[float, float] | None = None
    """The machine sleeps: when, and for how long."""


class Clock(Protocol):
    """The time that a driver lives in; what a call takes is slept."""

    @property
    def now_s(self) -> float: ...
    def sleep(self, seconds: float) -> None: ...


class VirtualNvml:
    """Stands for the functions of the module `pynvml`; a function that is not here answers "not supported"."""

    def __init__(self, nvml: ModuleType, clock: Clock, load: Load, faults: Faults, *, present: bool) -> None:
        self._nvml = nvml
        self._clock = clock
        self._load = load
        self._faults = faults
        self._present = present
        self._initialised = 0
        self._power_readings = 0
        self.load_began_s: float | None = None

    def pairs(self) -> list[Pair]:
        """Every function of `pynvml`, and what stands in for it: none reaches a real driver."""
        functions = {name: value for name, value in vars(self._nvml).items() if name.startswith("nvml")}
        return [(value, self._stand_in(name)) for name, value in functions.items() if callable(value)]

    def _stand_in(self, name: str) -> Callable[..., Any]:
        known = getattr(self, name, None)

        def function(*arguments: Any) -> Any:
            if not name.startswith("nvmlInit") and not self._initialised:
                raise self._error("UNINITIALIZED")
            if known is None:
                raise self._error("NOT_SUPPORTED")
            return known(*arguments)

        return function

    def nvmlInit(self) -> None:
        if not self._present:
            raise self._error("LIBRARY_NOT_FOUND")
        self._initialised += 1

    def nvmlInitWithFlags(self, flags: int) -> None:
        self.nvmlInit()

    def nvmlShutdown(self) -> None:
        self._initialised -= 1

    def nvmlSystemGetDriverVersion(self) -> str:
        return "580.00"

    def nvmlSystemGetCudaDriverVersion_v2(self) -> int:
        return 13000

    def nvmlDeviceGetCount(self) -> int:
        return 1

    def nvmlDeviceGetHandleByIndex(self, index: int) -> str:
        if index != 0:
            raise self._error("INVALID_ARGUMENT")
        return UUID

    def nvmlDeviceGetHandleByUUID(self, uuid: str | bytes) -> str:
        return UUID

    def nvmlDeviceGetIndex(self, handle: str) -> int:
        return 0

    def nvmlDeviceGetUUID(self, handle: str) -> str:
        return UUID

    def nvmlDeviceGetName(self, handle: str) -> str:
        return "Board under test"

    def nvmlDeviceGetArchitecture(self, handle: str) -> int:
        name = "NVML_DEVICE_ARCH_HOPPER" if self._faults.has_counter else "NVML_DEVICE_ARCH_PASCAL"
        return int(getattr(self._nvml, name))

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: str) -> int:
        if not self._faults.has_counter:
            raise self._error("NOT_SUPPORTED")
        self._clock.sleep(COUNTER_COST_S)
        self._refuse_while_silent()
        if self._faults.counter_reads_from_s is not None and self._passed_s() < self._faults.counter_reads_from_s:
            raise self._error("UNKNOWN")
        return self._counter_mj()

    def nvmlDeviceGetPowerUsage(self, handle: str) -> float:
        self._clock.sleep(POWER_COST_S)
        self._refuse_while_silent()
        self._power_readings += 1
        every = self._faults.nan_every
        if every and self._power_readings % every == 0:
            return float("nan")
        return round(1000 * self._load.power_w(self._clock.now_s))

    def nvmlDeviceGetFieldValues(self, handle: str, fields: Sequence[int | tuple[int, int]]) -> list[SimpleNamespace]:
        return [self._field(field if isinstance(field, tuple) else (field, 0)) for field in fields]

    def nvmlDeviceGetUtilizationRates(self, handle: str) -> SimpleNamespace:
        self._refuse_while_silent()
        return SimpleNamespace(gpu=50, memory=25)

    def nvmlDeviceGetMemoryInfo(self, handle: str) -> SimpleNamespace:
        return SimpleNamespace(total=81_920 * MIB, used=2_048 * MIB, free=79_872 * MIB)

    def nvmlDeviceGetTemperature(self, handle: str, sensor: int) -> int:
        self._refuse_while_silent()
        return 40

    def nvmlDeviceGetTemperatureV(self, handle: str, sensor: int) -> int:
        return self.nvmlDeviceGetTemperature(handle, sensor)

    def nvmlDeviceGetClockInfo(self, handle: str, clock: int) -> int:
        self._refuse_while_silent()
        return 1980

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: str) -> int:
        self._refuse_while_silent()
        return 0

    def nvmlDeviceGetCurrentClocksEventReasons(self, handle: str) -> int:
        return self.nvmlDeviceGetCurrentClocksThrottleReasons(handle)

    def nvmlDeviceGetComputeMode(self, handle: str) -> int:
        return 0

    def nvmlDeviceGetComputeRunningProcesses(self, handle: str) -> list[Any]:
        return []

    def nvmlDeviceGetGraphicsRunningProcesses(self, handle: str) -> list[Any]:
        return []

    def nvmlDeviceGetPowerManagementLimit(self, handle: str) -> int:
        return LIMIT_MW

    def nvmlDeviceGetPowerManagementDefaultLimit(self, handle: str) -> int:
        return LIMIT_MW

    def nvmlDeviceGetEnforcedPowerLimit(self, handle: str) -> int:
        return LIMIT_MW

    def nvmlDeviceGetPowerManagementLimitConstraints(self, handle: str) -> list[int]:
        return [200_000, LIMIT_MW]

    def _error(self, name: str) -> Exception:
        error: Exception = self._nvml.NVMLError(getattr(self._nvml, f"NVML_ERROR_{name}"))
        return error

    def _passed_s(self) -> float:
        return -1.0 if self.load_began_s is None else self._clock.now_s - self.load_began_s

    def _refuse_while_silent(self) -> None:
        silent_s = self._faults.silent_s
        if silent_s is not None and silent_s[0] <= self._passed_s() < silent_s[1]:
            raise self._error("UNKNOWN")

    def _counter_mj(self) -> int:
        """The counter moves in steps, and starts again from nothing where the driver was loaded anew."""
        moved_s = int(self._clock.now_s / COUNTER_PERIOD_S + 1e-6) * COUNTER_PERIOD_S
        total_j = self._load.energy_j(moved_s)
        reset_s = self._faults.counter_resets_at_s
        if reset_s is None or self.load_began_s is None or self._passed_s() < reset_s:
            return COUNTER_START_MJ + round(1000 * total_j)
        return max(round(1000 * (total_j - self._load.energy_j(self.load_began_s + reset_s))), 1)

    def _field(self, field: tuple[int, int]) -> SimpleNamespace:
        """Average and instant power of the board; there is no meter for its memory alone."""
        number, scope = field
        powers = (self._nvml.NVML_FI_DEV_POWER_AVERAGE, self._nvml.NVML_FI_DEV_POWER_INSTANT)
        if number in powers and scope == self._nvml.NVML_POWER_SCOPE_GPU:
            value = self.nvmlDeviceGetPowerUsage(UUID)
            return SimpleNamespace(nvmlReturn=self._nvml.NVML_SUCCESS, value=SimpleNamespace(uiVal=value))
        return SimpleNamespace(nvmlReturn=self._nvml.NVML_ERROR_NOT_SUPPORTED, value=SimpleNamespace(uiVal=0))
