"""CodeCarbon's `OfflineEmissionsTracker`, its own code throughout, with its own pace and nothing written to disk."""

from contextlib import ExitStack
from functools import partial
from typing import Any

import codecarbon.core.cpu
import codecarbon.core.gpu
import codecarbon.core.gpu_nvidia
import codecarbon.external.hardware
import pynvml
from codecarbon import OfflineEmissionsTracker
from codecarbon.core.hardware_cache import clear_cache

from asyncenergy_controller.meter_check.adapter import Device
from asyncenergy_controller.meter_check.replacing import attributes

J_PER_KWH = 3.6e6
COUNTRY = "SWE"
"""Only the emissions depend on it."""


class CodeCarbonMeter:
    """A tracker for each window, as its documentation has it; energies are those of the GPU, or of the CPU package."""

    def __init__(self, device: Device, **options: Any) -> None:
        """`options` are those of the tracker; without any it keeps its own pace."""
        self._options = {"country_iso_code": COUNTRY, "output_methods": [], "log_level": "critical"} | options
        self._field = f"{device.kind}_energy"
        is_gpu, rapl_dir = device.kind == "gpu", str(device.powercap / "intel-rapl" / "subsystem")
        cpu, gpu, gpu_nvidia = codecarbon.core.cpu, codecarbon.core.gpu, codecarbon.core.gpu_nvidia
        make_rapl = cpu.IntelRAPL
        with ExitStack() as stack:
            stack.enter_context(attributes(gpu_nvidia, pynvml=pynvml, PYNVML_AVAILABLE=is_gpu))
            stack.enter_context(attributes(gpu, PYNVML_AVAILABLE=is_gpu, is_nvidia_system=lambda: is_gpu))
            stack.enter_context(attributes(gpu, AMDSMI_AVAILABLE=False, is_rocm_system=lambda: False))
            stack.enter_context(attributes(cpu, is_rapl_available=partial(cpu.is_rapl_available, rapl_dir)))
            stack.enter_context(
                attributes(
                    codecarbon.external.hardware,
                    IntelRAPL=lambda **how: make_rapl(**how | {"rapl_dir": rapl_dir}),
                )
            )
            clear_cache()
            self._undo = stack.pop_all()

    def start(self) -> None:
        self._tracker = OfflineEmissionsTracker(**self._options)
        self._tracker.start()

    def stop(self) -> float | None:
        self._tracker.stop()
        return float(getattr(self._tracker.final_emissions_data, self._field)) * J_PER_KWH

    def close(self) -> None:
        self._undo.close()
