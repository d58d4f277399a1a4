"""What the doctor found goes with the meter and device that it looked at."""

import pytest
from asyncenergy_controller.bench.sensor import keep_sensor, known_sensor
from asyncenergy_controller.meters.base import MeterInfo

FOUND = {"counter_period_s": 0.1, "wall_period_s": 1.0, "wall_lag_s": 0.4, "device_name": "NVIDIA H200"}
WITHOUT_WALL = {"counter_period_s": 0.1, "device_name": "NVIDIA H200"}


@pytest.mark.parametrize(
    ("looked_at", "measured_with", "known"),
    [
        ("nvml+shelly", "nvml+shelly", FOUND),
        ("nvml+rapl", "nvml+rapl+shelly", WITHOUT_WALL),
        ("nvml+shelly", "nvml", WITHOUT_WALL),
        ("nvml+shelly", "nvml+tasmota", WITHOUT_WALL),
        ("nvml", "nvidia-smi", None),
    ],
)
def test_a_card_is_known_whatever_is_read_beside_it_and_a_plug_only_where_it_is_the_same(
    tmp_path, looked_at, measured_with, known
):
    keep_sensor(tmp_path, {"meter": looked_at, **FOUND})
    sensor = known_sensor(tmp_path, MeterInfo(meter=measured_with, device_name="NVIDIA H200"))
    assert sensor == (None if known is None else {"meter": looked_at, **known})


def test_another_card_is_not_known(tmp_path):
    keep_sensor(tmp_path, {"meter": "nvml", **FOUND})
    assert known_sensor(tmp_path, MeterInfo(meter="nvml", device_name="NVIDIA A100")) is None


def test_before_the_doctor_has_looked_nothing_is_known(tmp_path):
    assert known_sensor(tmp_path, MeterInfo(meter="nvml", device_name="NVIDIA H200")) is None
