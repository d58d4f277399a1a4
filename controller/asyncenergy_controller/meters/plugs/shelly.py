"""Shelly plugs and relays of the second generation and later."""

import math
from typing import Any

import httpx2

from asyncenergy_controller.meters.plugs.base import counted_wh, running_w, switched
from asyncenergy_controller.meters.plugs.http import PlugHttp, at


class ShellyPlug:
    """One switch, its power (`apower`) and its counter (`aenergy`)."""

    name = "shelly"

    def __init__(self, address: str, channel: str = "0", secret: str | None = None) -> None:
        """`secret` is the device's password, where one is set."""
        self._http = PlugHttp(address, auth=httpx2.DigestAuth("admin", secret) if secret else None)
        self._channel = channel or "0"

    def read_w(self) -> float:
        return running_w(self._status("apower"), self._plug)

    def turn_on(self, at_most_s: float | None = None) -> None:
        timer = {} if at_most_s is None else {"toggle_after": math.ceil(at_most_s)}
        self._http.get_json("/rpc/Switch.Set", id=self._channel, on="true", **timer)

    def turn_off(self) -> None:
        self._http.get_json("/rpc/Switch.Set", id=self._channel, on="false")

    def is_on(self) -> bool:
        return switched(self._status("output"), self._plug)

    def energy_wh(self) -> float:
        return counted_wh(self._status("aenergy", "total"), self._plug, wh_per_unit=1)

    @property
    def _plug(self) -> str:
        return f"the Shelly at {self._http.url}"

    def _status(self, *path: str) -> Any:
        answer, _ = self._http.get_json("/rpc/Switch.GetStatus", id=self._channel)
        return at(answer, *path)

    def close(self) -> None:
        self._http.close()
