"""A fake of the `pynvml` module: the real one's constants and errors, invented boards behind its functions."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pynvml
from asyncenergy_controller.meters import nvml_library


class VirtualClock:
    """A clock that moves when the test moves it."""

    def __init__(self, now_s: float = 1000.0):
        self.now_s = now_s

    def __call__(self) -> float:
        return self.now_s

    def pass_s(self, seconds: float) -> None:
        self.now_s += seconds


def flat(watts: float) -> Callable[[float], float]:
    """Energy in joules of a constant power, by the time since the start."""
    return lambda passed_s: watts * passed_s


def steps(*parts: tuple[float, float]) -> Callable[[float], float]:
    """Energy in joules of (seconds, watts) after one another; the last goes on."""

    def energy_j(passed_s: float) -> float:
        joules = 0.0
        for index, (seconds, watts) in enumerate(parts):
            took_s = passed_s if index == len(parts) - 1 else min(passed_s, seconds)
            joules += watts * took_s
            passed_s -= took_s
        return joules

    return energy_j


@dataclass
class FakeBoard:
    uuid: str = "GPU-11111111-aaaa-bbbb-cccc-000000000000"
    name: str = "NVIDIA H200"
    energy_j: Callable[[float], float] = flat(100)
    counter_start_mj: int = 5_000_000_000
    counter_period_s: float = 0.1
    slices: tuple[str, ...] = ()
    pids: tuple[int, ...] = ()
    util: int = 50
    used_mib: int = 2048
    total_mib: int = 143771
    temperature_c: int = 40
    sm_mhz: int = 1980
    throttle: int = 0
    limit_mw: int = 700_000
    default_limit_mw: int = 700_000
    range_mw: tuple[int, int] = (200_000, 700_000)
    fails: dict[str, int] = field(default_factory=dict)
    """Function, or name of a field → NVML error code."""
    power_zero: bool = False
    clamp_mw: int = 0
    """A limit below it is silently raised to it."""


class FakeNvml:
    """Stands where the module `pynvml` stood."""

    def __init__(
        self, *boards: FakeBoard, clock: Callable[[], float] | None = None, state: Path = Path("/nonexistent")
    ):
        self.boards = list(boards or [FakeBoard()])
        self.clock = clock or VirtualClock()
        self.t0_s = self.clock()
        self.calls: Counter[str] = Counter()
        self.fails: dict[str, int] = {}
        self.state = state

    def __getattr__(self, name):
        if name.startswith("nvml"):
            raise AssertionError(f"the meter called {name}, which this fake does not know")
        return getattr(pynvml, name)

    def _called(self, name, board=None):
        self.calls[name] += 1
        code = (board.fails if board else {}).get(name) or self.fails.get(name)
        if code:
            raise pynvml.NVMLError(code)

    def _power_mw(self, board):
        passed_s = self.clock() - self.t0_s
        return 0 if board.power_zero else round(1e6 * (board.energy_j(passed_s + 1e-3) - board.energy_j(passed_s)))

    def nvmlInit(self):
        self._called("nvmlInit")

    def nvmlShutdown(self):
        self._called("nvmlShutdown")

    def nvmlSystemGetDriverVersion(self):
        self._called("nvmlSystemGetDriverVersion")
        return "580.159.04"

    def nvmlSystemGetCudaDriverVersion_v2(self):
        self._called("nvmlSystemGetCudaDriverVersion_v2")
        return 13010

    def nvmlDeviceGetCount(self):
        self._called("nvmlDeviceGetCount")
        return len(self.boards)

    def nvmlDeviceGetHandleByIndex(self, index):
        return self.boards[index]

    def nvmlDeviceGetUUID(self, board):
        return board if isinstance(board, str) else board.uuid

    def nvmlDeviceGetName(self, board):
        return board.name

    def nvmlDeviceGetMaxMigDeviceCount(self, board):
        if not board.slices:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, board, index):
        if index >= len(board.slices):
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return board.slices[index]

    def nvmlDeviceGetTotalEnergyConsumption(self, board):
        self._called("nvmlDeviceGetTotalEnergyConsumption", board)
        ticks = (self.clock() - self.t0_s + 1e-9) // board.counter_period_s
        return board.counter_start_mj + round(1000 * board.energy_j(ticks * board.counter_period_s))

    def nvmlDeviceGetPowerUsage(self, board):
        self._called("nvmlDeviceGetPowerUsage", board)
        return self._power_mw(board)

    def nvmlDeviceGetFieldValues(self, board, fields):
        names = {185: "average", 186: "instant"}
        return [self._field(board, names[number]) for number in fields]

    def _field(self, board, name):
        code = board.fails.get(name, 0)
        return SimpleNamespace(nvmlReturn=code, value=SimpleNamespace(uiVal=0 if code else self._power_mw(board)))

    def nvmlDeviceGetUtilizationRates(self, board):
        self._called("nvmlDeviceGetUtilizationRates", board)
        return SimpleNamespace(gpu=board.util, memory=board.util // 2)

    def nvmlDeviceGetMemoryInfo(self, board):
        self._called("nvmlDeviceGetMemoryInfo", board)
        return SimpleNamespace(used=board.used_mib * 2**20, total=board.total_mib * 2**20)

    def nvmlDeviceGetTemperature(self, board, sensor):
        assert sensor == pynvml.NVML_TEMPERATURE_GPU
        self._called("nvmlDeviceGetTemperature", board)
        return board.temperature_c

    def nvmlDeviceGetClockInfo(self, board, clock):
        assert clock == pynvml.NVML_CLOCK_SM
        self._called("nvmlDeviceGetClockInfo", board)
        return board.sm_mhz

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, board):
        self._called("nvmlDeviceGetCurrentClocksThrottleReasons", board)
        return board.throttle

    def nvmlDeviceGetComputeRunningProcesses(self, board):
        self._called("nvmlDeviceGetComputeRunningProcesses", board)
        return [SimpleNamespace(pid=pid, usedGpuMemory=None) for pid in board.pids]

    def nvmlDeviceGetPowerManagementLimit(self, board):
        self._called("nvmlDeviceGetPowerManagementLimit", board)
        return self._kept(board).get("limit_mw", board.limit_mw)

    def nvmlDeviceGetPowerManagementLimitConstraints(self, board):
        self._called("nvmlDeviceGetPowerManagementLimitConstraints", board)
        return list(board.range_mw)

    def nvmlDeviceSetPowerManagementLimit(self, board, limit_mw):
        self._called("nvmlDeviceSetPowerManagementLimit", board)
        self._keep(board, limit_mw=max(limit_mw, board.clamp_mw))

    def nvmlDeviceSetGpuLockedClocks(self, board, low_mhz, high_mhz):
        self._called("nvmlDeviceSetGpuLockedClocks", board)
        self._keep(board, clock_mhz=high_mhz)

    def nvmlDeviceResetGpuLockedClocks(self, board):
        self._called("nvmlDeviceResetGpuLockedClocks", board)
        self._keep(board, clock_mhz=None)

    def clock_mhz(self, board):
        return self._kept(board).get("clock_mhz")

    def limit_w(self, board):
        return self._kept(board).get("limit_mw", board.limit_mw) / 1000

    def _kept(self, board):
        """What the card keeps though the process that set it is gone."""
        return json.loads(self.state.read_text()).get(board.uuid, {}) if self.state.exists() else {}

    def _keep(self, board, **changes):
        everything = json.loads(self.state.read_text()) if self.state.exists() else {}
        everything[board.uuid] = {**everything.get(board.uuid, {}), **changes}
        self.state.write_text(json.dumps(everything))

    def nvmlDeviceGetPowerManagementDefaultLimit(self, board):
        self._called("nvmlDeviceGetPowerManagementDefaultLimit", board)
        return board.default_limit_mw


def install(monkeypatch, fake):
    """Put `fake` at the one seam through which the controller reaches NVML."""
    monkeypatch.setattr(nvml_library, "_nvml", lambda: fake)
    return fake
