"""Zeus' `ZeusMonitor`, its own code throughout. Its helper processes run as threads: virtual time ends at a process."""

import queue
import threading
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import zeus.device.cpu
import zeus.device.cpu.rapl
import zeus.device.gpu
import zeus.device.gpu.nvidia
import zeus.monitor.power
from zeus.monitor import ZeusMonitor

from asyncenergy_controller.meter_check.adapter import Device
from asyncenergy_controller.meter_check.replacing import attributes

WINDOW = "window"


class ZeusMeter:
    """A monitor of the GPU, or of the CPU package. Nothing runs on the GPU, so there is nothing to synchronise with."""

    def __init__(self, device: Device) -> None:
        rapl, is_gpu = zeus.device.cpu.rapl, device.kind == "gpu"
        with ExitStack() as stack:
            stack.enter_context(attributes(zeus.device.gpu, _gpus=None))
            stack.enter_context(attributes(zeus.device.cpu, _cpus=None))
            stack.enter_context(attributes(rapl, RAPL_DIR=str(device.powercap / "intel-rapl"), CONTAINER_RAPL_DIR=""))
            stack.enter_context(attributes(rapl, mp=AS_THREADS))
            stack.enter_context(attributes(zeus.monitor.power, mp=AS_THREADS))
            zeus.device.gpu.nvidia.nvml_is_available.cache_clear()
            rapl.rapl_is_available.cache_clear()
            self._monitor = ZeusMonitor(gpu_indices=[0] if is_gpu else [], cpu_indices=[] if is_gpu else [0])
            self._undo = stack.pop_all()

    def start(self) -> None:
        self._monitor.begin_window(WINDOW, sync_execution=False)

    def stop(self) -> float | None:
        measured = self._monitor.end_window(WINDOW, sync_execution=False)
        energies = measured.gpu_energy or measured.cpu_energy
        return sum(energies.values()) if energies else None

    def close(self) -> None:
        self._undo.close()


class _ThreadAsProcess(threading.Thread):
    """What Zeus asks of a process."""

    def terminate(self) -> None:
        """It ends by its own stop event, or with the case."""

    kill = terminate


class _Value:
    """What Zeus asks of a shared number."""

    def __init__(self, _code: str, value: int) -> None:
        self.value = value
        self._lock = threading.Lock()

    def get_lock(self) -> Any:
        return self._lock


_SPAWN = SimpleNamespace(Process=_ThreadAsProcess, Queue=queue.Queue, Event=threading.Event, Value=_Value)
AS_THREADS = SimpleNamespace(get_context=lambda _method: _SPAWN)
