"""An invented load, for demonstrations on a machine without a meter. Never published as measured."""

import math
import random
from collections.abc import Callable

from asyncenergy_controller.clock import monotonic
from asyncenergy_controller.meters.base import MeterInfo, Reading

COUNTER_PERIOD_S = 0.1
LIMIT_W = 65.0
REASON = "the meter is simulated: only power and energy are invented"


class SimulatedMeter:
    """A mean power with a slow swing; seed and time alone decide it, and the counter is its exact integral."""

    name = "simulated"

    def __init__(self, *, seed: int = 0, clock: Callable[[], float] = monotonic) -> None:
        draw = random.Random(seed)  # noqa: S311 - a demonstration, not a secret
        self._mean_w = draw.uniform(35, 45)
        self._swing_w = draw.uniform(5, 15)
        self._swing_s = draw.uniform(20, 40)
        self._clock = clock
        self._t0_s = clock()

    def info(self) -> MeterInfo:
        channels = ("gpu_util_pct", "gpu_mem_used_mib", "gpu_temp_c", "sm_clock_mhz", "throttle_mask")
        return MeterInfo(
            meter=self.name,
            energy_source="simulated",
            energy_boundary="cpu_package",
            device_kind="cpu",
            device_name="Simulated",
            power_limit_w=LIMIT_W,
            stock_power_limit_w=LIMIT_W,
            counter_period_s=COUNTER_PERIOD_S,
            reasons=dict.fromkeys(channels, REASON),
        )

    def read(self) -> Reading:
        now_s = self._clock()
        passed_s = now_s - self._t0_s
        counted_s = math.floor(passed_s / COUNTER_PERIOD_S) * COUNTER_PERIOD_S
        return Reading(
            t_s=now_s,
            gpu_power_w=self.power_w(passed_s),
            power_field="simulated",
            gpu_energy_mj=1000 * self.energy_j(counted_s),
        )

    def power_w(self, passed_s: float) -> float:
        """Return the invented power, so many seconds after the meter was opened."""
        return self._mean_w + self._swing_w * math.sin(math.tau * passed_s / self._swing_s)

    def energy_j(self, passed_s: float) -> float:
        """Return the integral of `power_w` from the opening on."""
        swing_j = self._swing_w * self._swing_s / math.tau
        return self._mean_w * passed_s + swing_j * (1 - math.cos(math.tau * passed_s / self._swing_s))

    def close(self) -> None:
        pass
