"""From stored runs to what pooling needs."""

from collections.abc import Hashable, Mapping
from typing import Any

from bench import pooling
from bench.configuration import CLAIMED
from bench.models import Run


def measured(run: Run, scores: Mapping[Hashable, float] | None = None) -> pooling.Measured:
    """A stored run as the board sees it; runs without a machine count as one machine an account."""
    return pooling.Measured(
        run_id=str(run.pk),
        machine=run.node_id or f"account {run.account_id}",
        account=run.account_id,
        is_counted=run.node.is_counted if run.node else True,
        config_key=run.config_key,
        config=run.config,
        task=run.task,
        methodology=run.methodology,
        verified=run.methodology != CLAIMED,
        tier=run.tier,
        correctness_word=run.correctness_word,
        figures=run.figures,
        marks=run.flags,
        received=run.received_at.isoformat(),
        updated=(run.decided_at or run.received_at).isoformat(timespec="seconds"),
        scores=scores,
    )


def item_scores(run: Run) -> dict[Hashable, float] | None:
    """Score by question; None for a run without items."""
    if not hasattr(run, "columns"):
        return None
    items = run.columns.items()
    return {(run.item_set, index): score for index, score in zip(items["index"], items["correct"], strict=True)}


def row_of_run(run: Run) -> dict[str, Any]:
    """One run as a row of its own, unranked."""
    return {**pooling.row([measured(run)]), "is_simulated": run.is_simulated}
