"""Plugs that run Tasmota."""

from asyncenergy_controller.errors import MeterError
from asyncenergy_controller.meters.plugs.base import running_w
from asyncenergy_controller.meters.plugs.http import PlugHttp, at


class TasmotaPlug:
    """`Power` of the energy sensor; whole watts, unless the plug's `WattRes` is set."""

    name = "tasmota"

    def __init__(self, address: str, channel: str = "", secret: str | None = None) -> None:
        """`channel` counts from 1 on plugs with several outlets; `secret` is the web password."""
        self._http = PlugHttp(address)
        self._channel = channel
        self._login = {"user": "admin", "password": secret} if secret else {}

    def read_w(self) -> float:
        answer, _ = self._http.get_json("/cm", cmnd="Status 8", **self._login)
        power = at(answer, "StatusSNS", "ENERGY", "Power")
        return running_w(self._one_of(power) if isinstance(power, list) else power, f"Tasmota at {self._http.url}")

    def _one_of(self, powers: list[float]) -> float:
        if not self._channel.isdecimal() or not 1 <= int(self._channel) <= len(powers):
            raise MeterError(f"the plug has {len(powers)} outlets: add #1 to #{len(powers)} to its address")
        return powers[int(self._channel) - 1]

    def close(self) -> None:
        self._http.close()
