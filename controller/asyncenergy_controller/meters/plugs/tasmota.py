"""Plugs that run Tasmota."""

from typing import Any

from asyncenergy_controller.errors import MeterError
from asyncenergy_controller.meters.plugs.base import counted_wh, outlet_of, running_w, switched
from asyncenergy_controller.meters.plugs.http import PlugHttp, at


class TasmotaPlug:
    """One outlet and its energy sensor; `Power` is in whole watts, unless the plug's `WattRes` is set."""

    name = "tasmota"

    def __init__(self, address: str, channel: str = "", secret: str | None = None) -> None:
        """`channel` counts from 1 on plugs with several outlets; `secret` is the web password."""
        self._http = PlugHttp(address)
        self._channel = channel
        self._login = {"user": "admin", "password": secret} if secret else {}

    def read_w(self) -> float:
        return running_w(self._one_of(at(self._energy(), "Power")), self._plug)

    def turn_on(self, at_most_s: float | None = None) -> None:
        """Its timer is a lasting setting of the plug, so it is left alone."""
        self._power("On")

    def turn_off(self) -> None:
        self._power("Off")

    def is_on(self) -> bool:
        return self._power("")

    def energy_wh(self) -> float:
        energy = self._energy()
        total = at(energy, "Total")
        if isinstance(at(energy, "Power"), list) and not isinstance(total, list):
            raise MeterError(f"{self._plug} counts all its outlets together: `SetOption129 1` there counts each apart")
        return counted_wh(self._one_of(total), self._plug, wh_per_unit=1000)

    @property
    def _plug(self) -> str:
        return f"Tasmota at {self._http.url}"

    def _energy(self) -> Any:
        return at(self._ask("Status 8"), "StatusSNS", "ENERGY")

    def _power(self, state: str) -> bool:
        """Set the state, or only ask for it, and return what the plug says it is now."""
        answer = self._ask(f"Power{self._channel} {state}".rstrip())
        # With one outlet it drops the number, or adds one where its SetOption26 is on.
        said = at(answer, f"POWER{self._channel or 1}") or at(answer, "POWER")
        return switched({"ON": True, "OFF": False}.get(str(said)), self._plug)

    def _ask(self, command: str) -> Any:
        answer, _ = self._http.get_json("/cm", cmnd=command, **self._login)
        if warning := at(answer, "WARNING"):  # older firmware refuses with a good status, in its own language
            raise MeterError(f"{self._plug} answered only {warning!r}")
        return answer

    def _one_of(self, values: Any) -> Any:
        """The outlet's own value where the plug tells one of each outlet."""
        return outlet_of(values, self._channel, "the plug") if isinstance(values, list) else values

    def close(self) -> None:
        self._http.close()
