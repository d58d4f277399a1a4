"""Open the plug that a setting or a job names."""

from collections.abc import Callable

from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.meters.plugs.base import Switch, WallMeter
from asyncenergy_controller.meters.plugs.home_assistant import HomeAssistantPlug, HomeAssistantSwitch
from asyncenergy_controller.meters.plugs.kasa import KasaPlug
from asyncenergy_controller.meters.plugs.shelly import ShellyPlug
from asyncenergy_controller.meters.plugs.tasmota import TasmotaPlug

PLUGS: dict[str, Callable[[str, str, str | None], WallMeter]] = {
    "shelly": ShellyPlug,
    "tasmota": TasmotaPlug,
    "home_assistant": HomeAssistantPlug,
    "kasa": KasaPlug,
}
SWITCHES: dict[str, Callable[[str, str, str | None], Switch]] = {
    "shelly": ShellyPlug,
    "tasmota": TasmotaPlug,
    "kasa": KasaPlug,
}
FORM = "KIND:ADDRESS[#CHANNEL], such as shelly:192.168.1.20 or home_assistant:http://ha.local:8123#sensor.desk_power"


def open_wall_meter(spec: str, secret: str | None = None) -> WallMeter:
    """Open `kind:address#channel`; `secret` is what the plug asks for. Raises UsageError for an unreadable one."""
    kind, address, channel = _parts(spec)
    return PLUGS[kind](address, channel, secret)


def open_switch(spec: str, secret: str | None = None, energy_entity: str | None = None) -> Switch:
    """Open what can be switched; of Home Assistant it is an entity. Raises UsageError for an unreadable one."""
    kind, address, channel = _parts(spec)
    if kind == "home_assistant":
        return HomeAssistantSwitch(address, channel, secret, energy_entity)
    return SWITCHES[kind](address, channel, secret)


def _parts(spec: str) -> tuple[str, str, str]:
    kind, _, rest = spec.partition(":")
    address, _, channel = rest.partition("#")
    if kind not in PLUGS or not address:
        raise UsageError(f"plug {spec!r} must be {FORM}; kinds are {', '.join(PLUGS)}")
    return kind, address, channel
