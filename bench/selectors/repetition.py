"""Configurations that were measured again."""

from typing import Any

from django.db.models import Count, Q, QuerySet

from bench import repetition
from bench.models import BoardRow, Run

MAX_CELLS = 40
MAX_RUNS = 1000
_FIGURES = (
    "joules_per_correct_answer",
    "jpc_ci_low",
    "jpc_ci_high",
    "joules_per_token",
    "pooled_tokens_per_second",
    "mean_gpu_w",
    "accuracy",
    "accuracy_ci_low",
    "accuracy_ci_high",
)


def repetitions() -> list[dict[str, Any]]:
    """Item counts, repeats, and rows over machines, those of most points first; at most some dozens."""
    rows = BoardRow.objects.filter(n_nodes__gt=1).order_by("-n_nodes", "task", "config_key")[:MAX_CELLS]
    over = [repetition.across_nodes(payload, machines) for payload, machines in rows.values_list("payload", "machines")]
    found = [*repetition.again(_runs_of_cells()), *(one for one in over if one)]
    return sorted(found, key=lambda one: -len(one["points"]))


def _runs_of_cells() -> list[dict[str, Any]]:
    """The runs of the cells with most runs, in the order in which they were measured."""
    cells = _measured().order_by().values_list("config_key", "task", "node").annotate(n=Count("pk")).filter(n__gt=1)
    named = list(cells.order_by("-n", "config_key", "task")[:MAX_CELLS])
    if not named:
        return []
    among = Q()
    for config_key, task, node, _ in named:
        among |= Q(config_key=config_key, task=task, node=node)
    runs = _measured().filter(among).order_by("measured_at", "received_at", "pk")
    return [_flat(run) for run in runs.values(*_NAMES)[:MAX_RUNS]]


_NAMES = (
    "pk",
    "config_key",
    "config",
    "task",
    "node__public_id",
    "n_items",
    "methodology",
    *(f"figures__{name}" for name in _FIGURES),
)


def _flat(run: dict[str, Any]) -> dict[str, Any]:
    config = run["config"]
    return {
        **{name: config.get(name) for name in repetition.HEAD},
        **{name: run[f"figures__{name}"] for name in _FIGURES},
        "run_id": str(run["pk"]),
        "config_key": run["config_key"],
        "task": run["task"],
        "node": run["node__public_id"],
        "n_items": run["n_items"],
        "verified": run["methodology"] == config["methodology_version"],
    }


def _measured() -> QuerySet[Run]:
    """Published runs that a row may hold, each of a known machine."""
    published = Run.objects.filter(status=Run.Status.PUBLISHED, is_simulated=False, is_canary=False)
    return published.filter(task__isnull=False, node__isnull=False).exclude(suite="calibrate")
