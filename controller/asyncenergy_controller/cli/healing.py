"""At any start: a GPU limit that an interrupted run left behind is put back, and the person is told."""

from asyncenergy_controller.cli.console import say
from asyncenergy_controller.meters.power_limit import heal_leftovers
from asyncenergy_controller.settings import Settings


def heal(settings: Settings) -> None:
    for healing in heal_leftovers(settings.power_journal_dir):
        say(healing.message)
