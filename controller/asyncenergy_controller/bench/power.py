"""Power caps and clock locks of single units: set before, put back after, skipped where they may not be set."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from asyncenergy_controller.bench.plan import Unit
from asyncenergy_controller.errors import ControllerError, MeterUnavailable
from asyncenergy_controller.meters.base import MeterInfo
from asyncenergy_controller.meters.gpu_writes import WriteRefused
from asyncenergy_controller.meters.power_journal import JournalBroken
from asyncenergy_controller.meters.power_limit import Policy, PowerControl

CAPPABLE_METERS = ("nvml", "nvidia-smi")


class UnitSkipped(ControllerError):
    """This unit can't be measured here; the others can."""


@dataclass(frozen=True)
class UnitPower:
    """Changes the metered boards for the length of one unit."""

    journal_dir: Path
    device: str | None
    metered: MeterInfo
    policy: Policy

    @contextmanager
    def __call__(self, unit: Unit) -> Iterator[None]:
        """Raises UnitSkipped with the reason, before anything is measured."""
        if unit.power_cap is None and unit.clock_lock_mhz is None:
            yield
            return
        with ExitStack() as stack:
            self._apply(unit, stack)
            yield

    def _apply(self, unit: Unit, stack: ExitStack) -> None:
        if self.metered.meter.split("+")[0] not in CAPPABLE_METERS:
            raise UnitSkipped(f"no NVIDIA GPU is metered here (meter {self.metered.meter}), so none can be limited")
        try:
            control = stack.enter_context(PowerControl(self.journal_dir, self.device, policy=self.policy))
            if unit.power_cap is not None:
                control.set_limit_w(unit.power_cap * control.limits().default_w)
            if unit.clock_lock_mhz is not None:
                control.lock_clock_mhz(unit.clock_lock_mhz)
        except (WriteRefused, MeterUnavailable, JournalBroken, OSError) as refused:
            raise UnitSkipped(str(refused)) from refused
