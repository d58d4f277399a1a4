"""From stored runs to what pooling needs."""

from collections.abc import Hashable, Mapping
from typing import Any

from asyncenergy_controller.metrics import cost_items

from bench import pooling
from bench.aggregation import Source
from bench.configuration import CLAIMED
from bench.models import Run


def measured(run: Run, scores: Mapping[Hashable, float] | None = None) -> pooling.Measured:
    """A stored run as the board sees it."""
    return pooling.Measured(
        run_id=str(run.pk),
        machine=machine_of(run),
        node=run.node.counted.public_id if run.node else None,
        account=counted_account(run),
        is_counted=run.node.is_counted if run.node else True,
        config_key=run.config_key,
        config=run.config,
        task=run.task,
        suite=run.suite,
        methodology=run.methodology,
        verified=run.methodology != CLAIMED,
        tier=run.tier,
        correctness_word=run.correctness_word,
        stock_limit_w=run.facts.get("gpu_stock_power_limit_w"),
        figures={name: run.figures.get(name) for name in pooling.NEEDED},
        marks=run.flags,
        received=run.received_at.isoformat(),
        updated=(run.decided_at or run.received_at).isoformat(timespec="seconds"),
        scores=scores,
    )


def machine_of(run: Run) -> str:
    """The machine that a run counts for, no public name; runs without one count as one machine an account."""
    return str(run.node.counted.pk if run.node else f"account {counted_account(run)}")


def counted_account(run: Run) -> int:
    """The account that the run's one counts as, where the query has asked for it."""
    found: int = getattr(run, "counted_account_id", run.account_id)
    return found


def source(run: Run) -> Source:
    """A stored run with its items' costs and its load."""
    load, claimed = load_profile(run.figures), run.figures.get("claimed_costs") or {}
    if not hasattr(run, "columns"):
        return Source(measured(run), None, "no_items", load, claimed)
    items = run.columns.items()
    costs, reason = cost_items(items, items["energy_j"], run.config.get("prefix_cache"))
    return Source(measured(run, item_scores(run.item_set, items)), costs, reason, load, claimed)


def item_scores(item_set: str, items: Mapping[str, Any]) -> dict[Hashable, float]:
    """Score by question."""
    return {(item_set, index): score for index, score in zip(items["index"], items["correct"], strict=True)}


def load_profile(figures: Mapping[str, Any]) -> dict[str, Any] | None:
    """What loading the model took, from the run's own ledger; else what its bundle said of it, marked as claimed."""
    entry = next((phase for phase in figures.get("ledger") or () if phase["phase"] == "load"), None)
    if entry is None:
        return figures.get("claimed_load")
    return {
        "load_time_s": entry["duration_s"],
        "load_energy_j": entry["energy_j"],
        "loaded_idle_w": figures.get("idle_loaded_w"),
        "memory_mib": figures.get("mean_gpu_mem_used_mib"),
        "claimed": False,
    }


def row_of_run(run: Run) -> dict[str, Any]:
    """One run as a row of its own, unranked."""
    return {**pooling.row([measured(run)]), "is_simulated": run.is_simulated}
