"""Names that may reach spreadsheets and language models: those that maintainers know, and no stranger's free text."""

from collections.abc import Mapping
from typing import Any

from bench.models import Alias

UNLISTED = "unlisted"
_NAMED = {"model": "model", "engine": "engine", "gpu_class": "gpu"}
Listed = Mapping[str, frozenset[str]]


def names_listed() -> dict[str, frozenset[str]]:
    """The names that maintainers know, by kind."""
    known: dict[str, set[str]] = {kind: set() for kind in Alias.Kind.values}
    for kind, name in Alias.objects.values_list("kind", "name"):
        known[kind].add(name)
    return {kind: frozenset(names) for kind, names in known.items()}


def listed_names(row: Mapping[str, Any], listed: Listed) -> dict[str, Any]:
    """The row's names, each unknown one as `unlisted`."""
    named = {column: row[column] for column in _NAMED if column in row}
    return {
        column: name if name is None or name in listed[_NAMED[column]] else UNLISTED for column, name in named.items()
    }
