"""Names that may reach spreadsheets and language models."""

from bench.models import Alias


def names_listed() -> dict[str, frozenset[str]]:
    """The names that maintainers know, by kind: only they may reach spreadsheets and language models."""
    known: dict[str, set[str]] = {kind: set() for kind in Alias.Kind.values}
    for kind, name in Alias.objects.values_list("kind", "name"):
        known[kind].add(name)
    return {kind: frozenset(names) for kind, names in known.items()}
