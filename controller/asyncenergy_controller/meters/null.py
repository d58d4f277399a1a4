"""No meter: the run goes on, its energy is withheld."""

from asyncenergy_controller.clock import monotonic
from asyncenergy_controller.meters.base import MeterInfo, Reading

REASON = "no meter was found on this machine; `async-energy-controller doctor` says what is missing"


class NullMeter:
    """Reads time alone."""

    name = "null"

    def __init__(self, reason: str = REASON) -> None:
        self._reason = reason

    def info(self) -> MeterInfo:
        return MeterInfo(meter=self.name, device_kind="cpu", reasons={"energy": self._reason})

    def read(self) -> Reading:
        return Reading(t_s=monotonic())

    def close(self) -> None:
        pass
