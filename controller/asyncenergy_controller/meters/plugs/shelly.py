"""Shelly plugs and relays of the second generation and later."""

import httpx2

from asyncenergy_controller.meters.plugs.base import running_w
from asyncenergy_controller.meters.plugs.http import PlugHttp, at


class ShellyPlug:
    """`apower` of one switch."""

    name = "shelly"

    def __init__(self, address: str, channel: str = "0", secret: str | None = None) -> None:
        """`secret` is the device's password, where one is set."""
        self._http = PlugHttp(address, auth=httpx2.DigestAuth("admin", secret) if secret else None)
        self._channel = channel or "0"

    def read_w(self) -> float:
        answer, _ = self._http.get_json("/rpc/Switch.GetStatus", id=self._channel)
        return running_w(at(answer, "apower"), f"the Shelly at {self._http.url}")

    def close(self) -> None:
        self._http.close()
