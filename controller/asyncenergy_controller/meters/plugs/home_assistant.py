"""Any power sensor, and anything that can be switched, that a Home Assistant knows."""

from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from asyncenergy_controller.errors import MeterError, UsageError
from asyncenergy_controller.meters.plugs.base import counted_wh, running_w
from asyncenergy_controller.meters.plugs.http import PlugHttp, at

WATTS = {"W": 1.0, "kW": 1000.0, "mW": 0.001}
WATT_HOURS = {"Wh": 1.0, "kWh": 1000.0, "MWh": 1e6}
MAX_AGE_S = 10.0
SERVICE_LIMIT_S = 12.0
"""It answers when the device has done it, or after 10 s."""


class HomeAssistantPlug:
    """One sensor's state, each report once; a report older than 10 s is not the power now."""

    name = "home_assistant"

    def __init__(self, address: str, channel: str = "", secret: str | None = None) -> None:
        """`channel` is the entity, `sensor.…`; `secret` a long-lived access token."""
        if not channel or not secret or not secret.isascii():
            raise UsageError("Home Assistant needs its address with #sensor.name, and a long-lived access token")
        self._http = PlugHttp(address, headers={"Authorization": f"Bearer {secret}"})
        self._entity = channel
        self._last_report: str | None = None

    def read_w(self) -> float:
        state, headers = self._http.get_json(f"/api/states/{self._entity}")
        watts = self._power_w(state)
        self._check_fresh(state, headers.get("date"))
        return watts

    def close(self) -> None:
        self._http.close()

    def _power_w(self, state: Any) -> float:
        unit = at(state, "attributes", "unit_of_measurement")
        if unit not in WATTS:
            raise MeterError(f"{self._entity} is in {unit!r}: choose a sensor whose unit is W or kW")
        value = at(state, "state")
        try:
            return running_w(float(value), self._entity) * WATTS[unit]
        except (TypeError, ValueError):
            raise MeterError(f"{self._entity} is {value!r} at present") from None

    def _check_fresh(self, state: Any, date: str | None) -> None:
        report = at(state, "last_reported") or at(state, "last_updated")
        if report == self._last_report:
            raise MeterError(f"{self._entity} has no new report since {report}: let its device report more often")
        self._last_report = report
        try:
            age_s = (parsedate_to_datetime(date or "") - datetime.fromisoformat(report or "")).total_seconds()
        except (TypeError, ValueError):
            raise MeterError(f"{self._entity} does not say when it was measured") from None
        if age_s > MAX_AGE_S:
            raise MeterError(f"{self._entity} was last reported {age_s:.0f} s ago: let its device report more often")


class HomeAssistantSwitch:
    """An entity that can be switched, and the sensor of its energy in total."""

    name = "home_assistant"

    def __init__(self, address: str, entity: str, secret: str | None, energy_entity: str | None = None) -> None:
        """`secret` is a long-lived access token."""
        if not entity or not secret or not secret.isascii():
            raise UsageError("Home Assistant needs its address with #switch.name, and a long-lived access token")
        headers = {"Authorization": f"Bearer {secret}"}
        self._http = PlugHttp(address, headers=headers, limit_s=SERVICE_LIMIT_S)
        self._entity = entity
        self._energy_entity = energy_entity

    def turn_on(self, at_most_s: float | None = None) -> None:
        """It has no timer that outlives us."""
        self._http.post_json("/api/services/homeassistant/turn_on", entity_id=self._entity)

    def turn_off(self) -> None:
        self._http.post_json("/api/services/homeassistant/turn_off", entity_id=self._entity)

    def is_on(self) -> bool:
        state = at(self._http.get_json(f"/api/states/{self._entity}")[0], "state")
        if state not in ("on", "off"):
            raise MeterError(f"{self._entity} is {state!r} at present")
        return bool(state == "on")

    def energy_wh(self) -> float:
        if not self._energy_entity:
            raise MeterError(f"no energy_entity is named beside {self._entity}: name its sensor of the total energy")
        answer, _ = self._http.get_json(f"/api/states/{self._energy_entity}")
        unit = at(answer, "attributes", "unit_of_measurement")
        if unit not in WATT_HOURS:
            raise MeterError(f"{self._energy_entity} is in {unit!r}: choose a sensor whose unit is Wh or kWh")
        try:
            return counted_wh(float(at(answer, "state")), self._energy_entity, wh_per_unit=WATT_HOURS[unit])
        except (TypeError, ValueError):
            raise MeterError(f"{self._energy_entity} is {at(answer, 'state')!r} at present") from None

    def close(self) -> None:
        self._http.close()
