"""Where the questions come from: a pinned revision on the hub, or a folder of files. The only I/O of the tasks."""

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from asyncenergy_controller.tasks.base import TaskError

Row = dict[str, Any]
EXTRA = "pip install 'asyncenergy-controller[datasets]'"
SUFFIXES = (".jsonl", ".json", ".parquet", ".csv")
HUB_LIMIT_S = 30


@dataclass(frozen=True, slots=True)
class DatasetFile:
    """A file of a data set: its path in the repository and, where known, the sha256 of its content."""

    path: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set on the hub. `splits` names its files; a revision of None must be given by the user."""

    name: str
    repo: str
    splits: Mapping[str, tuple[DatasetFile, ...]]
    revision: str | None = None
    gated: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """Where to look: a folder of files, else the hub at the pinned or the given revision."""

    folder: Path | None = None
    revision: str | None = None


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
        paths = {file.path: _from_hub(dataset, file, revision) for file in dataset.splits[split]}
    contents = {name: path.read_bytes() for name, path in paths.items()}
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    pinned = [file.sha256 for file in dataset.splits[split]]
    is_pinned = dataset.revision is not None and list(digests.values()) == pinned
    if source.folder is None and revision == dataset.revision and None not in pinned and not is_pinned:
        raise TaskError(f"{dataset.repo} {split} is not the pinned file: sha256 {digests}, expected {pinned}.")
    rows = [row for name, content in contents.items() for row in _rows(name, content)]
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
        as_published = {file.path: root / file.path for file in dataset.splits[split]}
        if all(path.is_file() for path in as_published.values()):
            return as_published
    simple = [(folder, f"{dataset.name}_{split}*"), *((root, f"{split}*") for root in roots)]
    for root, pattern in simple:
        for path in sorted(root.glob(pattern)):
            if path.suffix in SUFFIXES:
                return {path.name: path}
    raise TaskError(
        f"{folder} holds no {split} questions of {dataset.name}: put {dataset.name}_{split}.jsonl (or .parquet) "
        f"there, or a copy of the hub's {dataset.repo} in {folder / dataset.name}."
    )


def _from_hub(dataset: Dataset, file: DatasetFile, revision: str | None) -> Path:
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError as error:
        raise TaskError(f"{dataset.name} comes from the hub: {EXTRA}, or give --dataset-dir.") from error
    if revision is None:
        raise TaskError(f"{dataset.name} has no pinned revision: give one with --dataset-revision, or --dataset-dir.")
    try:
        return Path(
            hf_hub_download(dataset.repo, file.path, repo_type="dataset", revision=revision, etag_timeout=HUB_LIMIT_S)
        )
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        way_out = " It is gated: accept its terms on the hub and log in with `hf auth login`." if dataset.gated else ""
        raise TaskError(
            f"{dataset.repo} {file.path} at {revision} cannot be had from the hub ({type(error).__name__}).{way_out} "
            f"Without the network, give --dataset-dir with a copy."
        ) from error


def _rows(name: str, content: bytes) -> Iterator[Row]:
    suffix = Path(name).suffix
    try:
        if suffix == ".parquet":
            return iter(_parquet(content))
        text = content.decode("utf-8-sig")
        if suffix == ".csv":
            return iter(list(csv.DictReader(io.StringIO(text, newline=""))))
        return iter(json.loads(text) if suffix == ".json" else [json.loads(line) for line in text.split("\n") if line])
    except ValueError as error:
        raise TaskError(f"{name} cannot be read: {error}") from error


def _parquet(content: bytes) -> list[Row]:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise TaskError(f"Reading .parquet needs {EXTRA}; or give the questions as .jsonl.") from error
    rows: list[Row] = pyarrow.parquet.read_table(io.BytesIO(content)).to_pylist()
    return rows
