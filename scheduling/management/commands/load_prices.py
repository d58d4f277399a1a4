"""Takes in prices from a file."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from scheduling.errors import PricesRefused
from scheduling.models import Market, PriceDocument
from scheduling.services import prices_load_csv


class Command(BaseCommand):
    help = "Load prices from CSV: start,end (ISO 8601 with offset) and price_per_kwh or price_per_mwh."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("market", help="its slug, as /api/v1/markets lists them")
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, market: str, file: Path, **options: Any) -> None:
        found = Market.objects.filter(slug=market).first()
        if found is None:
            raise CommandError(f"There is no market {market!r}.")
        try:
            document = prices_load_csv(market=found, raw=file.read_bytes())
        except OSError as error:
            raise CommandError(f"{file} can't be read: {error.strerror}.") from error
        except PricesRefused as error:
            raise CommandError(error.detail) from error
        if document is None:
            self.stdout.write("All of these prices were known.")
        elif document.status == PriceDocument.Status.ACCEPTED:
            self.stdout.write(f"{document.points.count()} prices stored for {found}.")
        else:
            raise CommandError(f"The prices were {document.get_status_display()}: {document.reason}")
