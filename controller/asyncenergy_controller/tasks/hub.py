"""The one door to the hub: what is on this machine first, then the network within a time limit.

Whatever goes wrong behind the door comes out as a TaskError that says how to do without.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from asyncenergy_controller.tasks.base import TaskError

EXTRA = "pip install 'asyncenergy-controller[datasets]'"
ANSWER_LIMIT_S = 10.0
PROBE_LIMIT_S = 3.0


def cached_files(repo: str, revision: str, patterns: Sequence[str]) -> dict[str, Path] | None:
    """The files of a data set that an earlier download left on this machine; None where any is missing."""
    with _hub_errors(repo, revision):
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import LocalEntryNotFoundError

        try:
            folder = snapshot_download(
                repo, repo_type="dataset", revision=revision, allow_patterns=list(patterns), local_files_only=True
            )
        except LocalEntryNotFoundError:
            return None
    found = _matching(Path(folder), patterns)
    return found if len(found) == len(patterns) else None


def download_files(repo: str, revision: str, patterns: Sequence[str]) -> dict[str, Path]:
    """The same from the hub. The first question has a time limit and is not repeated: most failures show there."""
    with _hub_errors(repo, revision):
        from huggingface_hub import dataset_info, snapshot_download

        dataset_info(repo, revision=revision, timeout=ANSWER_LIMIT_S)
        folder = snapshot_download(
            repo,
            repo_type="dataset",
            revision=revision,
            allow_patterns=list(patterns),
            etag_timeout=ANSWER_LIMIT_S,
        )
    found = _matching(Path(folder), patterns)
    if absent := [pattern for pattern in patterns if pattern not in found]:
        raise TaskError(f"{repo} at {revision} holds no {', '.join(absent)}. {_WAY_OUT}")
    return found


def probe(repo: str, revision: str | None) -> None:
    """Ask the hub once whether it has this data set; nothing is downloaded. Raises TaskError where it does not say."""
    with _hub_errors(repo, revision):
        from huggingface_hub import dataset_info

        dataset_info(repo, revision=revision, timeout=PROBE_LIMIT_S)


_WAY_OUT = "Without the network, give --dataset-dir with a copy."


@contextmanager
def _hub_errors(repo: str, revision: str | None) -> Iterator[None]:
    try:
        from huggingface_hub import errors
    except ImportError as error:
        raise TaskError(f"{repo} comes from the hub: {EXTRA}, or give --dataset-dir.") from error
    try:
        yield
    except errors.GatedRepoError as error:
        raise TaskError(
            f"{repo} is gated: accept its terms on the hub and log in with `hf auth login`. {_WAY_OUT}"
        ) from error
    except _failures(errors) as error:
        raise TaskError(
            f"{repo} at {revision} cannot be had from the hub ({type(error).__name__}). {_WAY_OUT}"
        ) from error


def _failures(errors: ModuleType) -> tuple[type[Exception], ...]:
    """All that the hub's client may raise. Its module of errors also holds the base error of its HTTP library, which
    is not the same in all versions.
    """
    named = (kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception))
    return (OSError, ValueError, RuntimeError, *named)


def _matching(folder: Path, patterns: Sequence[str]) -> dict[str, Path]:
    """The first file of each pattern; a pattern without one is left out."""
    found = {pattern: sorted(folder.glob(pattern)) for pattern in patterns}
    return {pattern: paths[0] for pattern, paths in found.items() if paths}
