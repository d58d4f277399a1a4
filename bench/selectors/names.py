"""Names that may reach spreadsheets and language models: those that maintainers know, and no stranger's free text."""

import re
from collections.abc import Mapping
from typing import Any

from bench.models import Alias

UNLISTED = "unlisted"
_NAMED = {"model": "model", "engine": "engine", "gpu_class": "gpu"}
# what nobody lists, but a short word says nothing to a language model: Q4_K_M, b6710, AWQ 4-bit
_WORDS = ("quantization", "engine_version", "thinking_mode", "driver_version")
_SHORT = re.compile(r"[\w.+:-]{1,24}(?: [\w.+:-]{1,12})?", re.ASCII)
Listed = Mapping[str, frozenset[str]]


def names_listed() -> dict[str, frozenset[str]]:
    """The names that maintainers know, by kind."""
    known: dict[str, set[str]] = {kind: set() for kind in Alias.Kind.values}
    for kind, name in Alias.objects.values_list("kind", "name"):
        known[kind].add(name)
    return {kind: frozenset(names) for kind, names in known.items()}


def listed_names(row: Mapping[str, Any], listed: Listed) -> dict[str, Any]:
    """The row's names and words, each unknown name and each long word as `unlisted`."""
    named = {column: row[column] for column in (*_NAMED, *_WORDS) if column in row}
    return {column: text if _is_known(column, text, listed) else UNLISTED for column, text in named.items()}


def _is_known(column: str, text: Any, listed: Listed) -> bool:
    if text is None:
        return True
    return text in listed[_NAMED[column]] if column in _NAMED else bool(_SHORT.fullmatch(str(text)))
