"""Reading JSON of unknown origin: what has another shape than it should counts as absent."""

from typing import Any


def mapping(value: Any) -> dict[str, Any]:
    """The object itself, or an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: Any) -> list[dict[str, Any]]:
    """The objects of a list."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def count(value: Any, *, least: int = 0) -> int | None:
    """A whole number of at least `least`, else None. True and "3" are no numbers."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= least else None


def text(value: Any) -> str:
    """The string itself, or an empty one."""
    return value if isinstance(value, str) else ""
