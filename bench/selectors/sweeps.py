"""Measured power caps and clock locks."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from bench import pooling
from bench.configuration import device_class
from bench.models import Alias, BoardSweep, Node, Run
from bench.rows import measured
from bench.sweeps import Measurement, recommended_cap_w, sweeps

POWER_CAP = "power_cap"
TRUSTED = (Run.Status.PENDING, Run.Status.PUBLISHED)


@dataclass(frozen=True, slots=True)
class SweepQuery:
    """`kind` is power_cap or clock_lock; unknown values give an empty answer."""

    kind: str | None = None
    gpu_class: str | None = None
    model: str | None = None
    task: str | None = None
    limit: int = 100
    offset: int = 0


def sweep_list(query: SweepQuery) -> list[dict[str, Any]]:
    """Sweeps of the published rows: on one machine and task, the stock setting first and the deepest last."""
    found = _matching(query).values_list("payload", flat=True)
    return list(found[query.offset : query.offset + query.limit])


def sweep_count(query: SweepQuery) -> int:
    return _matching(query).count()


def recommended_cap(node: Node, tolerance_pct: float) -> dict[str, Any]:
    """The cap for a machine: from its own runs, calibration among them, else from its GPU class. Null is normal."""
    own = [sweep.as_dict() for sweep in sweeps(_measured_by(node)) if sweep.kind == POWER_CAP]
    if own:
        return {"recommended_cap_w": recommended_cap_w(own, tolerance_pct), "source": "own_runs"}
    gpu_class = _gpu_class(node)
    published = sweep_list(SweepQuery(kind=POWER_CAP, gpu_class=gpu_class)) if gpu_class else []
    if published:
        return {"recommended_cap_w": recommended_cap_w(published, tolerance_pct), "source": "gpu_class"}
    return {"recommended_cap_w": None, "source": None}


def _matching(query: SweepQuery) -> QuerySet[BoardSweep]:
    named = {name: getattr(query, name) for name in ("kind", "gpu_class", "model", "task")}
    return BoardSweep.objects.filter(**{name: value for name, value in named.items() if value})


def _measured_by(node: Node) -> list[Measurement]:
    """The machine's median run of each configuration and task; nothing that waits for a person or was simulated."""
    runs = Run.objects.filter(node=node, status__in=TRUSTED, is_simulated=False, task__isnull=False)
    by_row: dict[tuple[str, str], list[pooling.Measured]] = defaultdict(list)
    for run in runs.select_related("node").defer("claimed", "gates").iterator(chunk_size=500):
        by_row[run.config_key, str(run.task)].append(measured(run))
    return [_measurement(group) for _, group in sorted(by_row.items())]


def _measurement(group: list[pooling.Measured]) -> Measurement:
    (one,), shown = pooling.machines(group), pooling.median(group)
    return Measurement.of(one, shown.config, shown.config_key, str(shown.task), verified=shown.verified)


def _gpu_class(node: Node) -> str | None:
    named = device_class(node.gpu_name)
    alias = Alias.objects.filter(kind=Alias.Kind.GPU, raw=named).first() if named else None
    return alias.name if alias else named
