"""The driver of a box: every Python process of it finds a fake card, whose power limit lies in $FAKE_CARD as in one."""

import os
from pathlib import Path

if "FAKE_CARD" in os.environ:
    from asyncenergy_controller.meters import nvml_library

    from tests.loop.card import fake_card

    card = fake_card(Path(os.environ["FAKE_CARD"]))
    nvml_library._nvml = lambda: card
