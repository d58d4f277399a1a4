"""The values of the board's filters."""

from typing import Any

from django.db.models import Count

from bench.models import BoardRow

FACETS = {
    "task": "task",
    "gpu_class": "gpu_class",
    "model": "model",
    "quant": "quantization",
    "engine": "engine",
    "tier": "tier",
}


def board_facets() -> dict[str, list[dict[str, Any]]]:
    """For each filter its values, each with its number of rows, most frequent first."""
    return {name: _facet(column) for name, column in FACETS.items()}


def _facet(column: str) -> list[dict[str, Any]]:
    counted = BoardRow.objects.exclude(**{f"{column}__isnull": True}).values(column).annotate(n=Count("pk"))
    return [{"value": row[column], "count": row["n"]} for row in counted.order_by("-n", column)]
