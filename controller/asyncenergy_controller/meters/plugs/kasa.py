"""TP-Link Kasa and Tapo plugs, by `python-kasa`."""

import asyncio
from typing import Any

from asyncenergy_controller.errors import MeterError, MeterUnavailable
from asyncenergy_controller.meters.plugs.base import LIMIT_S, running_w

CONNECT_LIMIT_S = 10.0


def _kasa() -> Any:
    """Return the `kasa` module; tests put their own in its place here."""
    import kasa

    return kasa


class KasaPlug:
    """`current_consumption` of a plug with an energy meter."""

    name = "kasa"

    def __init__(self, address: str, channel: str = "", secret: str | None = None) -> None:
        """`secret` is `e-mail:password` of the TP-Link account, which newer plugs ask for."""
        try:
            self._kasa = _kasa()
        except ImportError as error:
            raise MeterUnavailable("Kasa plugs need pip install 'asyncenergy-controller[plugs]'") from error
        self._address = address
        self._secret = secret
        self._device: Any = None
        self._runner = asyncio.Runner()

    def read_w(self) -> float:
        try:
            return self._runner.run(self._read_w())
        except (self._kasa.KasaException, TimeoutError, OSError) as error:
            self._device = None
            raise MeterError(f"the plug at {self._address} cannot be read: {type(error).__name__}: {error}") from error

    def close(self) -> None:
        if self._device is not None:
            self._runner.run(self._device.disconnect())
        self._runner.close()

    async def _read_w(self) -> float:
        if self._device is None:
            self._device = await asyncio.wait_for(self._connect(), CONNECT_LIMIT_S)
        await asyncio.wait_for(self._device.update(), LIMIT_S)
        meter = self._device.modules.get(self._kasa.Module.Energy)
        if meter is None:
            raise MeterError(f"the plug at {self._address} has no energy meter")
        return running_w(meter.current_consumption, f"the plug at {self._address}")

    async def _connect(self) -> Any:
        if not self._secret:
            return await self._kasa.Device.connect(host=self._address)
        username, _, password = self._secret.partition(":")
        device = await self._kasa.Discover.discover_single(self._address, username=username, password=password)
        if device is None:
            raise MeterError(f"no Kasa or Tapo plug answers at {self._address}")
        return device
