"""What the doctor found out about the meter, kept for the bundles to come."""

from pathlib import Path
from typing import Any

from asyncenergy_controller.files import read_json, write_json
from asyncenergy_controller.meters.base import MeterInfo

FILE = "sensor.json"


def keep_sensor(data_dir: Path, sensor: dict[str, Any]) -> None:
    """Nothing is kept where nothing was measured."""
    if sensor:
        write_json(data_dir / FILE, sensor)


def known_sensor(data_dir: Path, info: MeterInfo) -> dict[str, Any] | None:
    """The doctor's findings about this very meter and device, None where it has not looked at them."""
    path = data_dir / FILE
    sensor: dict[str, Any] = read_json(path) if path.exists() else {}
    same = (sensor.get("meter"), sensor.get("device_name")) == (info.meter, info.device_name)
    return sensor if same else None
