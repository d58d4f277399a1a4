"""The machine of one case: its time, its load, its driver and its files, in place of the real ones."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pynvml

from asyncenergy_controller.meter_check.adapter import Device, MeterAdapter
from asyncenergy_controller.meter_check.cases import Case, Window
from asyncenergy_controller.meter_check.load import Load
from asyncenergy_controller.meter_check.nvml import VirtualNvml
from asyncenergy_controller.meter_check.powercap import VirtualPowercap
from asyncenergy_controller.meter_check.virtual_time import VirtualTime, passing

HIDDEN_VARIABLES = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "ROCR_VISIBLE_DEVICES", "ZEUSD_")
"""What begins so chooses among the real GPUs."""


class Machine:
    """Plays the loads of a case while a meter watches."""

    def __init__(self, case: Case, folder: Path, clock: VirtualTime) -> None:
        self._case = case
        self._clock = clock
        self._load = Load(clock.now_s, case.windows[0].load[0][1])
        self.nvml = VirtualNvml(pynvml, clock, self._load, case.faults, present=case.device == "gpu")
        self.device = Device(case.device, folder)
        self._powercap = VirtualPowercap(folder, self._load) if case.device == "cpu" else None
        self._write_files()
        clock.on_advance = self._write_files

    def measure(self, meter: MeterAdapter, window: Window) -> float | None:
        """Return what the meter says of one window: the load starts when `start` is back, `stop` comes at its end."""
        meter.start()
        self._begin(window)
        self._clock.sleep(window.duration_s)
        answer = meter.stop()
        if self._clock.stuck is not None:
            raise self._clock.stuck
        return answer

    def close(self) -> None:
        if self._powercap is not None:
            self._powercap.close()

    def _write_files(self) -> None:
        if self._powercap is not None:
            self._powercap.write(self._clock.now_s)

    def _begin(self, window: Window) -> None:
        now_s = self._clock.now_s
        self._load.play(now_s, window.load)
        if self.nvml.load_began_s is None:
            self.nvml.load_began_s = now_s
            if self._case.faults.suspend_s is not None:
                self._clock.suspend(*self._case.faults.suspend_s)


@contextmanager
def machine_of(case: Case) -> Iterator[Machine]:
    """Put the machine of a case in place of the real one, for this thread and those started from it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(_without_variables())
        clock = VirtualTime()
        machine = stack.enter_context(closing(Machine(case, folder, clock)))
        stack.enter_context(passing(clock, machine.nvml.pairs()))
        yield machine


@contextmanager
def _without_variables() -> Iterator[None]:
    before = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(HIDDEN_VARIABLES)}
    try:
        yield
    finally:
        os.environ.update(before)
