"""A GPU meter with what is measured beside it: the CPU's counter, and the wall at the wall's own pace."""

import threading
from collections import deque
from dataclasses import replace
from math import inf

from asyncenergy_controller.clock import monotonic
from asyncenergy_controller.errors import MeterError
from asyncenergy_controller.meters.base import Meter, MeterInfo, Reading
from asyncenergy_controller.meters.plugs.base import WallMeter
from asyncenergy_controller.sampler import next_deadline_s

WALL_PERIOD_S = 1.0
FRESH_S = 3.0
"""An answer that waited longer for somebody to read is of another moment."""
JOIN_LIMIT_S = 15.0


class CombinedMeter:
    """`base` decides what is measured; `cpu` is read in the same moment, `wall` on a thread of its own."""

    def __init__(
        self,
        base: Meter,
        *,
        cpu: Meter | None = None,
        wall: WallMeter | None = None,
        wall_period_s: float = WALL_PERIOD_S,
    ) -> None:
        self._base = base
        self._cpu = cpu
        self._wall = WallReader(wall, wall_period_s) if wall is not None else None
        self.name = "+".join(part.name for part in (base, cpu, wall) if part is not None)

    def info(self) -> MeterInfo:
        info = replace(self._base.info(), meter=self.name)
        if self._cpu is not None:
            beside = self._cpu.info()
            reasons = {name: why for name, why in beside.reasons.items() if name.startswith("cpu_")}
            info = replace(info, cpu_energy_range_uj=beside.cpu_energy_range_uj, reasons=info.reasons | reasons)
        if self._wall is not None and self._wall.reason is not None:
            info = replace(info, reasons=info.reasons | {"wall_power_w": self._wall.reason})
        return info

    def read(self) -> Reading:
        reading = self._base.read()
        if self._cpu is not None:
            reading = replace(reading, cpu_energy_uj=self._cpu.read().cpu_energy_uj)
        if self._wall is not None:
            reading = replace(reading, wall_power_w=self._wall.take())
        return reading

    def close(self) -> None:
        if self._wall is not None:
            self._wall.close()
        if self._cpu is not None:
            self._cpu.close()
        self._base.close()


class WallReader:
    """Asks a plug at a steady pace, so that a slow plug delays nobody; hands each answer on once."""

    def __init__(self, wall: WallMeter, period_s: float) -> None:
        self.reason: str | None = None
        """Why the latest question had no answer, or why an earlier one had none."""
        self._wall = wall
        self._period_s = period_s
        self._answers: deque[tuple[float, float]] = deque(maxlen=1)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="wall-reader", daemon=True)
        self._thread.start()

    def take(self) -> float | None:
        """Return the answer that came since the last call, None where none did lately."""
        answered_s, watts = self._answers.pop() if self._answers else (-inf, None)
        return watts if monotonic() - answered_s <= FRESH_S else None

    def close(self) -> None:
        self._stopped.set()
        self._thread.join(JOIN_LIMIT_S)
        self._wall.close()

    def _loop(self) -> None:
        t0_s = monotonic()
        while not self._stopped.is_set():
            try:
                watts = self._wall.read_w()
                self._answers.append((monotonic(), watts))
            except MeterError as error:
                self.reason = error.message
            except Exception as error:  # noqa: BLE001 - a run outlives any fault of a plug, which is recorded
                self.reason = f"{type(error).__name__}: {error}"
            now_s = monotonic()
            self._stopped.wait(next_deadline_s(t0_s, self._period_s, now_s) - now_s)
