"""One configuration over all its tasks."""

from collections.abc import Collection
from typing import Any

from bench.models import BoardConfig, BoardRow, BoardSweep, Run

MAX_RUNS = 200


def config_detail(config_key: str) -> dict[str, Any] | None:
    """Its settings, cost models by machine, load profile, grades, rows, sweeps and newest runs; None if unknown."""
    found = BoardConfig.objects.filter(pk=config_key).first()
    if found is None:
        return None
    rows = BoardRow.objects.filter(config_key=config_key).order_by("task").values_list("payload", flat=True)
    return {**found.payload, "rows": list(rows), "sweeps": _sweeps(config_key), "runs": _runs(config_key)}


def configs_of(config_keys: Collection[str]) -> dict[str, dict[str, Any]]:
    """All settings of these configurations by key; unknown keys are left out."""
    return dict(BoardConfig.objects.filter(pk__in=config_keys).values_list("pk", "config"))


def _sweeps(config_key: str) -> list[dict[str, Any]]:
    """Those that hold a point of this configuration."""
    config = BoardConfig.objects.get(pk=config_key).config
    near = BoardSweep.objects.filter(gpu_class=config["gpu_class"], model=config["model"])
    sweeps: list[dict[str, Any]] = list(near.values_list("payload", flat=True))
    return [sweep for sweep in sweeps if any(point["config_key"] == config_key for point in sweep["points"])]


def _runs(config_key: str) -> list[dict[str, Any]]:
    published = Run.objects.filter(config_key=config_key, status=Run.Status.PUBLISHED, is_simulated=False)
    names = ("task", "suite", "tier", "joules_per_correct_answer", "n_items", "n_correct", "measured_at")
    newest = published.select_related("node").only(*names, "node__public_id").order_by("-received_at", "pk")
    return [
        {
            "id": str(run.pk),
            "node": run.node.public_id if run.node else None,
            "date": run.measured_at.date().isoformat() if run.measured_at else None,
            **{name: getattr(run, name) for name in names if name != "measured_at"},
        }
        for run in newest[:MAX_RUNS]
    ]
