"""Publishes one submission on a demonstration server, where no maintainer sits."""

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from bench.errors import OnlyInDemo
from bench.models import Submission
from bench.services import board_rebuild, submission_publish_demo


class Command(BaseCommand):
    help = "Publish a submission's waiting runs. Works with DEMO=1 only; elsewhere maintainers decide."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("submission", type=UUID, help="the id that the upload answered with")

    def handle(self, *args: Any, submission: UUID, **options: Any) -> None:
        found = Submission.objects.filter(pk=submission).first()
        if found is None:
            raise CommandError(f"There is no submission {submission}.")
        try:
            decisions = submission_publish_demo(submission=found)
        except OnlyInDemo as error:
            raise CommandError(error.detail) from error
        board_rebuild()
        self.stdout.write(f"Published {len(decisions)} runs of submission {submission}.")
