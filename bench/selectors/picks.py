"""Which configuration to run for a workload."""

from typing import Any

from bench import recommendation
from bench.models import BoardConfig, BoardRow
from bench.recommendation import Candidate, Wish


def candidates() -> list[Candidate]:
    """Every row of the board with the cost model of its configuration."""
    costs = {key: (model, reason) for key, model, reason in _costs()}
    rows = BoardRow.objects.order_by("task", "config_key").values_list("payload", flat=True)
    return [Candidate(row, *costs[row["config_key"]]) for row in rows]


def recommend(wish: Wish) -> dict[str, Any]:
    """Rows of one task that satisfy the wish, best first, each with its prediction and the reasons for its place."""
    return recommendation.recommend(candidates(), wish)


def _costs() -> list[tuple[str, dict[str, Any] | None, str | None]]:
    payloads = BoardConfig.objects.values_list("config_key", "payload")
    return [(key, payload["cost_model"], payload["cost_model_reason"]) for key, payload in payloads]
