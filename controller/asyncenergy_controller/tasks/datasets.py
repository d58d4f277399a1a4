"""Where the questions come from: a pinned revision on the hub, or a folder of files. The only I/O of the tasks."""

import csv
import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from asyncenergy_controller.tasks import hub
from asyncenergy_controller.tasks.base import TaskError
from asyncenergy_controller.tasks.hub import EXTRA

Row = dict[str, Any]
SUFFIXES = (".jsonl", ".json", ".parquet", ".csv", ".arrow")


@dataclass(frozen=True, slots=True)
class DatasetFile:
    """A file of a data set: its path in the repository (`*` where the shard's number is left open), where known the
    sha256 of its content, and what its place says about every row in it.
    """

    path: str
    sha256: str | None = None
    says: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set on the hub. `splits` names its files; a revision of None must be given by the user."""

    name: str
    repo: str
    splits: Mapping[str, tuple[DatasetFile, ...]]
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Where to look: a folder of files, else the hub's cache, else the hub, at the pinned or the given revision."""

    folder: Path | None = None
    revision: str | None = None
    may_download: bool = True


class NotHere(TaskError):
    """The questions would have to be downloaded first, which was not wanted."""

    def __init__(self, message: str, repo: str, revision: str) -> None:
        super().__init__(message)
        self.repo, self.revision = repo, revision


@dataclass(frozen=True, slots=True)
class Loaded:
    """The rows of one split, and what they are: a revision of the hub, or the content of local files."""

    rows: list[Row]
    revision: str
    sha256: Mapping[str, str] = field(default_factory=dict)


def load_split(dataset: Dataset, split: str, source: Source) -> Loaded:
    """All rows of a split in file order. Raises TaskError that says what is missing and how to get it."""
    revision = source.revision or dataset.revision
    if source.folder is not None:
        paths = _local_files(dataset, split, source.folder)
    else:
        paths = _from_hub(dataset, split, source)
    contents = {name: _content(path) for name, path in paths.items()}
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    pinned = [file.sha256 for file in dataset.splits[split]]
    is_pinned = dataset.revision is not None and list(digests.values()) == pinned
    if source.folder is None and revision == dataset.revision and None not in pinned and not is_pinned:
        raise TaskError(f"{dataset.repo} {split} is not the pinned file: sha256 {digests}, expected {pinned}.")
    says = {file.path: file.says for file in dataset.splits[split]}
    rows = [{**says.get(name, {}), **row} for name, content in contents.items() for row in _rows(name, content)]
    if not rows:
        raise TaskError(f"{', '.join(contents)} holds no rows of {dataset.name}.")
    return Loaded(rows, _revision_name(dataset, source, digests, is_pinned=is_pinned), digests)


def _revision_name(dataset: Dataset, source: Source, digests: Mapping[str, str], *, is_pinned: bool) -> str:
    """The hub's revision where the content is known to be that, else the content's own hash."""
    if source.folder is None and (revision := source.revision or dataset.revision) is not None:
        return revision
    if is_pinned and dataset.revision is not None:
        return dataset.revision
    whole = hashlib.sha256("".join(digests.values()).encode()).hexdigest() if len(digests) > 1 else None
    return f"sha256:{whole or next(iter(digests.values()))}"


def _local_files(dataset: Dataset, split: str, folder: Path) -> dict[str, Path]:
    """`<folder>/<name>_<split>*`, or the repository's own layout in `<folder>/<name>/` or `<folder>/<repo>/`."""
    roots = (folder / dataset.name, folder / dataset.repo, folder / dataset.repo.split("/")[-1])
    for root in (*roots, folder):
        as_published = {file.path: sorted(root.glob(file.path)) for file in dataset.splits[split]}
        if all(as_published.values()):
            return {name: found[0] for name, found in as_published.items()}
    simple = [(folder, f"{dataset.name}_{split}*"), *((root, f"{split}*") for root in roots)]
    for root, pattern in simple:
        for path in sorted(root.glob(pattern)):
            if path.suffix in SUFFIXES:
                return {path.name: path}
    raise TaskError(
        f"{folder} holds no {split} questions of {dataset.name}: put {dataset.name}_{split}.jsonl (or .parquet) "
        f"there, or a copy of the hub's {dataset.repo} in {folder / dataset.name}."
    )


def _from_hub(dataset: Dataset, split: str, source: Source) -> dict[str, Path]:
    """A download leaves the files in the hub's cache, so that it is made once."""
    revision = source.revision or dataset.revision
    if revision is None:
        raise TaskError(f"{dataset.name} has no pinned revision: give one with --dataset-revision, or --dataset-dir.")
    patterns = [file.path for file in dataset.splits[split]]
    found = hub.cached_files(dataset.repo, revision, patterns)
    if found is None and not source.may_download:
        raise NotHere(f"the {split} questions of {dataset.name} are not on this machine yet.", dataset.repo, revision)
    return found or hub.download_files(dataset.repo, revision, patterns)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TaskError(f"{path} cannot be read: {error.strerror or error}.") from error


def _rows(name: str, content: bytes) -> list[Row]:
    try:
        rows = _READERS[Path(name).suffix](content)
    except ImportError as error:
        raise TaskError(f"Reading {name} needs {EXTRA}; or give the questions as .jsonl.") from error
    except (ValueError, RecursionError, csv.Error) as error:  # pyarrow's own errors are ValueErrors, too
        raise TaskError(f"{name} cannot be read: {error}") from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise TaskError(f"{name} cannot be read: it must be a list of objects, one for each question.")
    return rows


def _jsonl(content: bytes) -> list[Row]:
    return [json.loads(line) for line in content.decode("utf-8-sig").split("\n") if line.strip()]


def _json(content: bytes) -> list[Row]:
    rows: list[Row] = json.loads(content)
    return rows


def _csv(content: bytes) -> list[Row]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def _parquet(content: bytes) -> list[Row]:
    from pyarrow import parquet

    rows: list[Row] = parquet.read_table(io.BytesIO(content)).to_pylist()
    return rows


def _arrow(content: bytes) -> list[Row]:
    from pyarrow import ipc

    rows: list[Row] = ipc.open_stream(content).read_all().to_pylist()
    return rows


_READERS = dict(zip(SUFFIXES, (_jsonl, _json, _parquet, _csv, _arrow), strict=True))
