"""Any power sensor that a Home Assistant knows."""

from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from asyncenergy_controller.errors import MeterError, UsageError
from asyncenergy_controller.meters.plugs.base import running_w
from asyncenergy_controller.meters.plugs.http import PlugHttp, at

WATTS = {"W": 1.0, "kW": 1000.0, "mW": 0.001}
MAX_AGE_S = 10.0


class HomeAssistantPlug:
    """One sensor's state, each report once; a report older than 10 s is not the power now."""

    name = "home_assistant"

    def __init__(self, address: str, channel: str = "", secret: str | None = None) -> None:
        """`channel` is the entity, `sensor.…`; `secret` a long-lived access token."""
        if not channel or not secret:
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
