"""What watching costs: our sampler beside the monitors of Zeus and CodeCarbon, over one and the same board.

The board is simulated, in real time: first a driver that answers at once, so that only the monitors' own work counts;
then one whose energy counter takes 4 ms a reading, as on an H200, all of it spent computing, which is the most that it
can cost. Where this machine has an NVIDIA GPU, that one comes third. A tick is one round of readings; a core's share is
processor time over real time, of this process.

    python -m benchmarks meters
"""

import importlib
import importlib.metadata
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pynvml
from asyncenergy_controller.errors import MeterUnavailable
from asyncenergy_controller.meter_check import Device
from asyncenergy_controller.meter_check.load import Load
from asyncenergy_controller.meter_check.nvml import COUNTER_COST_S, Faults, VirtualNvml
from asyncenergy_controller.meter_check.replacing import replaced
from asyncenergy_controller.meters.nvml import NvmlMeter
from asyncenergy_controller.sampler import Sampler

PERIOD_S = 0.2
SETTLE_S = 1.0
SHORT_S, LONG_S = 5.0, 16.0
POWER_UPDATE_S = 0.1
COUNTER = "nvmlDeviceGetTotalEnergyConsumption"
FIELDS = "nvmlDeviceGetFieldValues"
USE = "nvmlDeviceGetUtilizationRates"

Stop = Callable[[], Any]
Board = Callable[[], AbstractContextManager[Counter[str]]]
"""Put in place for one monitor; yields how often each of its functions was called."""


@dataclass(frozen=True)
class Monitor:
    """One way to watch a board: how it is started (returns how to stop it), and how its ticks are counted."""

    name: str
    package: str | None
    """None is ours, which comes with this checkout."""
    start: Callable[[Device], Stop]
    ticks: Callable[[Counter[str]], float]
    seconds: float = SHORT_S


@dataclass(frozen=True)
class Cost:
    ticks_per_s: float
    cpu_s_per_tick: float
    core_share: float


class RealTime:
    """The driver's clock: a counter reading computes for as long as it takes, other calls answer at once."""

    def __init__(self, counter_cost_s: float) -> None:
        self._counter_cost_s = counter_cost_s

    @property
    def now_s(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        end_s = time.perf_counter() + (self._counter_cost_s if seconds == COUNTER_COST_S else 0)
        while time.perf_counter() < end_s:
            pass


def start_ours(device: Device) -> Stop:
    return Sampler(NvmlMeter(), PERIOD_S).start().stop


def start_zeus_power(device: Device, period_s: float | None) -> Stop:
    """Its two or three polling processes run as threads here, so that their processor time is counted with ours."""
    adapter = _zeus().ZeusMeter(device)
    monitor = importlib.import_module("zeus.monitor.power").PowerMonitor([0], period_s)

    def stop() -> None:
        monitor.stop()
        adapter.close()

    return stop


def start_zeus_windows(device: Device) -> Stop:
    """A window every 200 ms, as often as our sampler reads."""
    meter, stopped = _zeus().ZeusMeter(device), threading.Event()

    def loop() -> None:
        while not stopped.is_set():
            meter.start()
            stopped.wait(PERIOD_S)
            meter.stop()

    thread = threading.Thread(target=loop)
    thread.start()

    def stop() -> None:
        stopped.set()
        thread.join()
        meter.close()

    return stop


def start_codecarbon(device: Device, **options: Any) -> Stop:
    meter = importlib.import_module("asyncenergy_controller.meter_check.adapters.codecarbon").CodeCarbonMeter(
        device, **options
    )
    meter.start()

    def stop() -> None:
        meter.stop()
        meter.close()

    return stop


def _zeus() -> Any:
    return importlib.import_module("asyncenergy_controller.meter_check.adapters.zeus")


def rounds_of_power(calls: Counter[str]) -> float:
    """Average and instant power are read in turn."""
    return calls[FIELDS] / 2


MONITORS = (
    Monitor("ours, 0.2 s, all channels", None, start_ours, rounds_of_power),
    Monitor("Zeus ZeusMonitor, a window every 0.2 s", "zeus", start_zeus_windows, lambda calls: calls[COUNTER] / 2),
    Monitor("Zeus PowerMonitor, 0.2 s", "zeus", partial(start_zeus_power, period_s=PERIOD_S), rounds_of_power),
    Monitor("Zeus PowerMonitor, as it comes", "zeus", partial(start_zeus_power, period_s=None), rounds_of_power),
    Monitor(
        "CodeCarbon tracker, 0.2 s",
        "codecarbon",
        partial(start_codecarbon, measure_power_secs=PERIOD_S),
        lambda calls: calls[COUNTER],
    ),
    Monitor(
        "CodeCarbon tracker, as it comes",
        "codecarbon",
        start_codecarbon,
        lambda calls: calls[COUNTER] + calls[USE],
        LONG_S,
    ),
)


@contextmanager
def simulated_board(counter_cost_s: float) -> Iterator[Counter[str]]:
    """A busy board in place of the real ones."""
    load = Load(time.monotonic(), 300)
    steps = (300 + 50 * (i % 7) for i in range(6000))
    load.play(time.monotonic(), ((i * POWER_UPDATE_S, watts) for i, watts in enumerate(steps)))
    nvml = VirtualNvml(pynvml, RealTime(counter_cost_s), load, Faults(), present=True)
    calls: Counter[str] = Counter()
    stand_ins = ((original, _counted(original.__name__, stand_in, calls)) for original, stand_in in nvml.pairs())
    with replaced(list(stand_ins)):
        yield calls


@contextmanager
def own_board() -> Iterator[Counter[str]]:
    """What this machine has."""
    calls: Counter[str] = Counter()
    functions = {name: getattr(pynvml, name) for name in (COUNTER, FIELDS, USE)}
    with replaced([(function, _counted(name, function, calls)) for name, function in functions.items()]):
        yield calls


def boards() -> dict[str, Board]:
    """The boards to measure on, by what they are."""
    simulated: dict[str, Board] = {
        "a driver that answers at once": partial(simulated_board, 0.0),
        "a counter that takes 4 ms": partial(simulated_board, COUNTER_COST_S),
    }
    try:
        info = NvmlMeter().info()
    except MeterUnavailable:
        return simulated
    return simulated | {f"{info.device_name}, driver {info.driver_version}": own_board}


def _counted(name: str, function: Callable[..., Any], calls: Counter[str]) -> Callable[..., Any]:
    def counted(*arguments: Any) -> Any:
        calls[name] += 1
        return function(*arguments)

    return counted


def measure(monitor: Monitor, board: Board) -> Cost:
    """Let a monitor run, and count its ticks and its processor time once it has settled."""
    with TemporaryDirectory() as folder, board() as calls:
        with redirect_stdout(sys.stderr):  # what other packages say when they are loaded
            stop = monitor.start(Device("gpu", Path(folder)))
        try:
            time.sleep(SETTLE_S)
            calls.clear()
            begun_s, cpu_s = time.perf_counter(), time.process_time()
            time.sleep(monitor.seconds)
            took_s, cpu_s, ticks = time.perf_counter() - begun_s, time.process_time() - cpu_s, monitor.ticks(calls)
        finally:
            stop()
    return Cost(ticks / took_s, cpu_s / ticks, cpu_s / took_s)


def version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def main() -> None:
    versions = {monitor.package: version(monitor.package) for monitor in MONITORS if monitor.package}
    for package, found in versions.items():
        extra = f"not installed: pip install 'asyncenergy-controller[{package}]' compares with it"
        print(f"{package}: {found or extra}")
    here = [monitor for monitor in MONITORS if not monitor.package or versions[monitor.package]]
    for title, board in boards().items():
        print(f"\n{title:40} {'ticks/s':>10} {'CPU a tick':>12} {'of a core':>10} {'x ours':>8}")
        ours: Cost | None = None
        for monitor in here:
            cost = measure(monitor, board)
            ours = ours or cost
            print(_line(monitor.name, cost, cost.core_share / ours.core_share))


def _line(name: str, cost: Cost, ratio: float) -> str:
    per_tick = f"{cost.cpu_s_per_tick * 1e3:.3f} ms"
    return f"{name:40} {cost.ticks_per_s:10,.1f} {per_tick:>12} {cost.core_share:>10.2%} {ratio:8.2f}"


if __name__ == "__main__":
    main()
