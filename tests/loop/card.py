"""The fake card of a box."""

import time
from pathlib import Path

from tests.controller.fakes_nvml import FakeBoard, FakeNvml, flat


def fake_card(state: Path) -> FakeNvml:
    return FakeNvml(FakeBoard(energy_j=flat(300)), clock=time.monotonic, state=state)
