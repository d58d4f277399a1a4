"""Our own meter, by the very path of a benchmark: meter, sampler, trace, and the formulas of a run."""

import time

from asyncenergy_controller.clock import monotonic
from asyncenergy_controller.meter_check.adapter import Device
from asyncenergy_controller.meters.base import Meter
from asyncenergy_controller.meters.nvml import NvmlMeter
from asyncenergy_controller.meters.rapl import RaplMeter
from asyncenergy_controller.metrics import recompute_run
from asyncenergy_controller.sampler import Sampler

LEAD_S = 2.0
"""Sampling starts so long before the first item and ends so long after the last."""


class OurMeter:
    """One window is one item."""

    def __init__(self, device: Device) -> None:
        self._meter: Meter = NvmlMeter() if device.kind == "gpu" else RaplMeter(device.powercap)

    def start(self) -> None:
        self._sampler = Sampler(self._meter).start()
        time.sleep(LEAD_S)
        self._begun_s = monotonic()

    def stop(self) -> float | None:
        ended_s = monotonic()
        time.sleep(LEAD_S)
        trace, info = self._sampler.stop(), self._meter.info()
        item = {"index": 0, "t_start_s": self._begun_s - trace.t0_s, "t_end_s": ended_s - trace.t0_s}
        run = {
            "energy_boundary": info.energy_boundary,
            "energy_source": info.energy_source,
            "sensor": {"cpu_energy_range_uj": info.cpu_energy_range_uj},
            "items": {name: [value] for name, value in item.items()},
            "trace": trace.columns(),
        }
        return recompute_run(run).total_joules_gpu_best
