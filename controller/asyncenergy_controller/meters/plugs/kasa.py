"""TP-Link Kasa and Tapo plugs, by `python-kasa`."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from asyncenergy_controller.errors import MeterError, MeterUnavailable
from asyncenergy_controller.meters.plugs.base import LIMIT_S, counted_wh, outlet_of, running_w, switched

CONNECT_LIMIT_S = 10.0
T = TypeVar("T")


def _kasa() -> Any:
    """Return the `kasa` module; tests put their own in its place here."""
    import kasa

    return kasa


class KasaPlug:
    """A plug or one outlet of a strip, and its energy meter where it has one."""

    name = "kasa"

    def __init__(self, address: str, channel: str = "", secret: str | None = None) -> None:
        """`channel` counts from 1 on strips; `secret` is `e-mail:password` of the account, which newer plugs want."""
        try:
            self._kasa = _kasa()
        except ImportError as error:
            raise MeterUnavailable("Kasa plugs need pip install 'asyncenergy-controller[plugs]'") from error
        self._address = address
        self._channel = channel
        self._secret = secret
        self._device: Any = None
        self._runner = asyncio.Runner()

    def read_w(self) -> float:
        return running_w(self._run(self._metered("current_consumption")), self._plug)

    def turn_on(self, at_most_s: float | None = None) -> None:
        """It has no timer that could be used."""
        self._run(self._turn(on=True))

    def turn_off(self) -> None:
        self._run(self._turn(on=False))

    def is_on(self) -> bool:
        return switched(self._run(self._state()), self._plug)

    def energy_wh(self) -> float:
        return counted_wh(self._run(self._metered("consumption_total")), self._plug, wh_per_unit=1000)

    def close(self) -> None:
        if self._device is not None:
            self._runner.run(self._device.disconnect())
        self._runner.close()

    @property
    def _plug(self) -> str:
        return f"the plug at {self._address}"

    def _run(self, asking: Coroutine[Any, Any, T]) -> T:
        try:
            return self._runner.run(asking)
        except (self._kasa.KasaException, TimeoutError, OSError) as error:
            self._device = None
            raise MeterError(f"{self._plug} cannot be read: {type(error).__name__}: {error}") from error

    async def _metered(self, name: str) -> Any:
        meter = (await self._outlet()).modules.get(self._kasa.Module.Energy)
        if meter is None:
            raise MeterError(f"{self._plug} has no energy meter")
        return getattr(meter, name, None)

    async def _turn(self, *, on: bool) -> None:
        outlet = await self._outlet()
        await asyncio.wait_for(outlet.turn_on() if on else outlet.turn_off(), LIMIT_S)

    async def _state(self) -> Any:
        return (await self._outlet()).is_on

    async def _outlet(self) -> Any:
        """What the strip itself says is of all its outlets, and what it is told goes to all."""
        device = await self._updated()
        outlets = list(getattr(device, "children", ())) or [device]
        return outlet_of(outlets, self._channel or ("1" if len(outlets) == 1 else ""), self._plug)

    async def _updated(self) -> Any:
        if self._device is None:
            self._device = await asyncio.wait_for(self._connect(), CONNECT_LIMIT_S)
        await asyncio.wait_for(self._device.update(), LIMIT_S)
        return self._device

    async def _connect(self) -> Any:
        if not self._secret:
            return await self._kasa.Device.connect(host=self._address)
        username, _, password = self._secret.partition(":")
        device = await self._kasa.Discover.discover_single(self._address, username=username, password=password)
        if device is None:
            raise MeterError(f"no Kasa or Tapo plug answers at {self._address}")
        return device
