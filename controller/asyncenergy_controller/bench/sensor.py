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
    """The doctor's findings about this device, and about the wall if the same is read; None where it has not looked."""
    path = data_dir / FILE
    sensor: dict[str, Any] = read_json(path) if path.exists() else {}
    looked_at, measured_with = str(sensor.get("meter")).split("+"), info.meter.split("+")
    if (looked_at[0], sensor.get("device_name")) != (measured_with[0], info.device_name):
        return None
    same_wall = looked_at[-1] == measured_with[-1]
    return {name: value for name, value in sensor.items() if same_wall or not name.startswith("wall_")}
