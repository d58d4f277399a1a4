"""Derives the published rows again from a download of the corpus. Strangers need nothing else."""

import gzip
import hashlib
import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from bench.corpus.rederive import Check, check_rows
from bench.selectors.corpus import corpus_release
from bench.services.corpus import corpus_dir

MOST_SHOWN = 20


class Command(BaseCommand):
    help = (
        "Derive every row of a downloaded corpus again from its runs, or the rows of one configuration. "
        "Ends with 1 if a figure comes out otherwise. Without a folder: this server's newest download."
    )
    requires_system_checks: list[str] = []  # Django's own attribute

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", nargs="?", type=Path, help="where rows.jsonl and runs.jsonl.gz lie")
        parser.add_argument("--config", help="configuration key of the rows to derive")
        parser.add_argument("--task", help="task of the rows to derive")

    def handle(self, *args: Any, folder: Path | None, config: str | None, task: str | None, **options: Any) -> None:
        folder = folder or _newest()
        _require_checksums(folder)
        rows = list(_lines(folder / "rows.jsonl"))
        checks = check_rows(_lines(folder / "runs.jsonl.gz"), rows)
        asked = [one for one in checks if config in (None, one.config_key) and task in (None, one.task)]
        if not asked:
            raise CommandError("No row of this configuration and task is in the download.")
        for check in asked:
            self._say(check)
        wrong = sum(not check.agrees for check in asked)
        self.stdout.write(f"{len(asked) - wrong} of {len(asked)} rows come out as published.")
        if wrong:
            raise CommandError(f"{wrong} rows differ.")

    def _say(self, check: Check) -> None:
        how = "pooled again from claimed totals" if check.is_claimed else "derived again from items and traces"
        verdict = "agrees" if check.agrees else "DIFFERS"
        self.stdout.write(f"{check.config_key} {check.task}: {verdict}, {check.n_figures} figures, {how}")
        for one in check.differences[:MOST_SHOWN]:
            self.stdout.write(f"  {one.of}: {one.name} published {one.published!r}, derived {one.derived!r}")


def _newest() -> Path:
    release = corpus_release()
    if release is None:
        raise CommandError("This server has no download yet; name a folder.")
    return corpus_dir() / str(release.version)


def _require_checksums(folder: Path) -> None:
    sums = folder / "SHA256SUMS.txt"
    if not sums.exists():
        raise CommandError(f"There is no SHA256SUMS.txt in {folder}; is this a download of the corpus?")
    for line in sums.read_text().splitlines():
        expected, name = line.split(maxsplit=1)
        path = folder / name
        if path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            raise CommandError(f"{name} is not the file that was published: its checksum differs. Download it again.")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """One record at a time: the runs of a large corpus don't fit in memory together."""
    if not path.exists():
        raise CommandError(f"{path.name} is missing; download it into {path.parent}.")
    with path.open("rb") as file:
        lines = gzip.open(file, "rt") if path.suffix == ".gz" else file  # noqa: SIM115  # closed with its file
        yield from map(json.loads, lines)
