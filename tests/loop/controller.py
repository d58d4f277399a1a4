"""The controller's command line on a fake card, whose power limit lies in $FAKE_CARD as in a real card."""

import os
import time
from pathlib import Path

from asyncenergy_controller.cli import main
from asyncenergy_controller.meters import nvml_library

from tests.controller.fakes_nvml import FakeBoard, FakeNvml, flat


def fake_card(state: Path) -> FakeNvml:
    return FakeNvml(FakeBoard(energy_j=flat(300)), clock=time.monotonic, state=state)


if __name__ == "__main__":
    card = fake_card(Path(os.environ["FAKE_CARD"]))
    nvml_library._nvml = lambda: card
    main()
