"""Puts the project's own recorded runs on the board."""

from typing import Any

from django.core.management.base import BaseCommand

from bench.services import board_rebuild, reference_load


class Command(BaseCommand):
    help = "Load and publish the reference bundles that come with the project. Running it again changes nothing."

    def handle(self, *args: Any, **options: Any) -> None:
        for loaded in reference_load():
            held = sum(outcome.status == "quarantined" for outcome in loaded.result.runs)
            self.stdout.write(
                f"{loaded.name}: {len(loaded.result.runs)} runs, {loaded.n_published} published now, {held} held"
            )
        board_rebuild()
