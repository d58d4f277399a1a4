"""Puts the corpus into files that everybody may download."""

import gzip
import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.db import IntegrityError, transaction
from pydantic_core import to_json

from asyncenergy import clock
from bench.models import CorpusRelease, DirtyMark
from bench.selectors.board import board_stamp
from bench.selectors.corpus import LICENCE, LICENCE_URL, corpus_lines, corpus_release, corpus_rows

NOT_BEFORE = timedelta(hours=1)
KEPT = 2
MEDIA_TYPES = {
    ".gz": "application/gzip",
    ".jsonl": "application/x-ndjson",
    ".parquet": "application/vnd.apache.parquet",
    ".txt": "text/plain",
}
LICENCE_TEXT = f"""Async Energy corpus, version {{version}}, made {{made_at}}

Licence: {LICENCE}, {LICENCE_URL}
Name the source as "Async Energy corpus, version {{version}}", and say what you changed.

rows.jsonl       one line a row of the board: a configuration on a task
runs.jsonl.gz    one line a published run, with its items and its trace
*.parquet        the same as columns: rows of runs, items and samples
SHA256SUMS.txt   checksums

`manage.py verify FOLDER` derives every row again from these files.
"""


def corpus_dir() -> Path:
    return Path(settings.VAR_DIR) / "corpus"


def corpus_release_due(*, now: datetime | None = None) -> CorpusRelease | None:
    """Make a download of the board as it is, unless there is one, or the last was made less than an hour ago."""
    now, newest, version = now or clock.now(), corpus_release(), board_stamp().version
    if version == 0 or (newest and (newest.version == version or now - newest.made_at < NOT_BEFORE)):
        return None
    return corpus_release_make(now=now)


def corpus_release_make(*, now: datetime | None = None) -> CorpusRelease | None:
    """Write the files beside the old ones, then show them. None if a decision came meanwhile: rows and runs would
    not belong together, and the next round makes them."""
    now, stamp = now or clock.now(), board_stamp()
    target = corpus_dir() / str(stamp.version)
    corpus_dir().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=corpus_dir(), prefix=".making-") as folder:
        n_runs = _write(Path(folder))
        if DirtyMark.objects.exists() or board_stamp() != stamp:
            return None
        files = _complete(Path(folder), LICENCE_TEXT.format(version=stamp.version, made_at=f"{now:%Y-%m-%d}"))
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder, target)
    return _release(stamp.version, now, n_runs, files)


def _complete(folder: Path, licence: str) -> list[dict[str, Any]]:
    """Add licence and checksums, and describe all files."""
    (folder / "LICENCE.txt").write_text(licence)
    files = [_described(path) for path in sorted(folder.iterdir())]
    sums = folder / "SHA256SUMS.txt"
    sums.write_text("".join(f"{one['sha256']}  {one['name']}\n" for one in files))
    return [*files, _described(sums)]


def _release(version: int, now: datetime, n_runs: int, files: list[dict[str, Any]]) -> CorpusRelease:
    facts = {"made_at": now, "n_runs": n_runs, "files": files}
    try:
        with transaction.atomic():
            release, _ = CorpusRelease.objects.update_or_create(version=version, defaults=facts)
    except IntegrityError:
        release = CorpusRelease.objects.get(version=version)
    for old in CorpusRelease.objects.order_by("-version")[KEPT:]:
        shutil.rmtree(corpus_dir() / str(old.version), ignore_errors=True)
        old.delete()
    return release


def _write(folder: Path) -> int:
    """Rows, runs and columns; returns how many runs they hold."""
    from bench.corpus import parquet  # pyarrow takes memory that only this work needs

    with (folder / "rows.jsonl").open("wb") as rows:
        rows.writelines(_written(corpus_rows()))
    n_runs = 0
    with ExitStack() as files:
        packed = files.enter_context((folder / "runs.jsonl.gz").open("wb"))
        runs = files.enter_context(_gzip(packed))
        tables = {name: files.enter_context(table) for name, table in parquet.tables(folder).items()}
        for line in corpus_lines():
            n_runs += 1
            runs.writelines(_written([line]))
            parquet.add(tables, line)
    return n_runs


def _written(records: list[dict[str, Any]]) -> Iterator[bytes]:
    return (to_json(record) + b"\n" for record in records)


def _gzip(file: BinaryIO) -> gzip.GzipFile:
    """Without a time in it: equal content has equal checksums."""
    return gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0)


def _described(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    media_type = MEDIA_TYPES[path.suffix]
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": digest, "media_type": media_type}
