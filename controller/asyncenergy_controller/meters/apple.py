"""Apple silicon through IOReport's energy model, by `zeus-apple-silicon`; the vendor calls its figures estimates."""

import contextlib
import subprocess
from collections.abc import Callable
from typing import Any

from asyncenergy_controller.clock import monotonic
from asyncenergy_controller.errors import MeterError, MeterUnavailable
from asyncenergy_controller.meters.base import MeterInfo, Reading

NEEDED = ("cpu_total_mj", "gpu_mj")
BESIDE = ("gpu_sram_mj", "dram_mj", "ane_mj")
HELP = "install the extra on a Mac with Apple silicon: pip install 'asyncenergy-controller[apple]'"


def _zeus_apple() -> Any:
    """Return the `zeus_apple_silicon` module; tests put their own in its place here."""
    import zeus_apple_silicon

    return zeus_apple_silicon


class AppleMeter:
    """The energy of the whole chip: CPU and GPU, with memory and neural engine where the chip reports them."""

    name = "apple"

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        """Open the energy model. Raises MeterUnavailable off Apple silicon or without the extra."""
        self._clock = clock
        try:
            self._monitor = _zeus_apple().AppleEnergyMonitor()
        except (ImportError, RuntimeError) as error:
            raise MeterUnavailable(f"Apple's energy model cannot be read: {error}. {HELP}") from error
        self._parts: tuple[str, ...] = ()
        self._reasons = {"gpu_power_w": "IOReport gives energy and no power"}

    def info(self) -> MeterInfo:
        return MeterInfo(
            meter=self.name,
            energy_source="ioreport",
            energy_boundary="soc",
            device_kind="soc",
            device_name=_chip_name(),
            reasons=dict(self._reasons),
        )

    def read(self) -> Reading:
        now_s = self._clock()
        try:
            energy_mj = self._energy_mj(self._monitor.get_cumulative_energy())
        except (RuntimeError, MeterError) as error:
            self._reasons["gpu_energy_mj"] = f"IOReport gave no reading: {error}"
            return Reading(t_s=now_s)
        return Reading(t_s=now_s, gpu_energy_mj=energy_mj)

    def close(self) -> None:
        pass

    def _energy_mj(self, parts: Any) -> float:
        """The sum of the same parts each time: one that came or went would bring its whole past along."""
        told = {name: value for name in (*NEEDED, *BESIDE) if (value := getattr(parts, name)) is not None}
        if missing := [name for name in self._parts or NEEDED if name not in told]:
            raise MeterError(f"this chip does not report {' and '.join(missing)}")
        self._parts = self._parts or tuple(told)
        if absent := [name for name in BESIDE if name not in self._parts]:
            self._reasons["energy_boundary"] = f"without {', '.join(absent)}, which this chip does not report"
        return float(sum(told[name] for name in self._parts))


def _chip_name() -> str | None:
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout.strip() or None
    return None
