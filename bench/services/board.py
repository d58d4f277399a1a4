"""Rebuilds the rows of the board, outside of any request."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from asyncenergy_controller.metrics import METHODOLOGY_VERSION
from django.db import transaction
from django.db.models import Q

from asyncenergy import clock
from bench import pooling
from bench.configuration import CLAIMED
from bench.models import BoardRow, BoardState, DirtyMark, Run
from bench.rows import item_scores, measured

Pair = tuple[str, str]  # config_key, task

# what pooling reads of a run; the rest stays in the database
_READ = (
    "config_key",
    "config",
    "task",
    "methodology",
    "tier",
    "correctness_word",
    "figures",
    "flags",
    "received_at",
    "decided_at",
    "account_id",
    "item_set",
    "node__is_counted",
    "columns__items_packed",
)
_COLUMNS = (
    "model",
    "quantization",
    "engine",
    "gpu_class",
    "tier",
    "verified",
    "joules_per_correct_answer",
    "joules_per_token",
    "joules_per_item",
    "accuracy",
    "pooled_tokens_per_second",
    "ttft_p50_s",
    "n_items",
    "n_runs",
    "n_nodes",
)


def runs_mark_dirty(runs: Iterable[Run]) -> None:
    """Say that the rows of these runs are stale; the worker rebuilds them."""
    pairs = {(run.config_key, run.task) for run in runs if run.task}
    DirtyMark.objects.bulk_create(DirtyMark(config_key=key, task=task) for key, task in sorted(pairs))


@transaction.atomic
def board_rebuild(*, full: bool = False, now: datetime | None = None) -> int:
    """Rebuild the stale rows, or all of them, and the ranks of their tasks. Returns how many were rebuilt."""
    state, _ = BoardState.objects.select_for_update().get_or_create(pk=1, defaults={"updated_at": now or clock.now()})
    marks = list(DirtyMark.objects.all())
    pairs = _all_pairs() if full else {(mark.config_key, mark.task) for mark in marks}
    if not pairs:
        return 0
    for pair in sorted(pairs):
        _rebuild_row(pair)
    for task in sorted({task for _, task in pairs}):
        _rank_task(task)
    DirtyMark.objects.filter(pk__in=[mark.pk for mark in marks]).delete()
    state.version += 1
    state.updated_at = now or clock.now()
    state.save(update_fields=["version", "updated_at"])
    return len(pairs)


def _all_pairs() -> set[Pair]:
    rows = BoardRow.objects.values_list("config_key", "task")
    runs = Run.objects.filter(_on_the_board()).order_by().values_list("config_key", "task").distinct()
    return {*rows, *((key, task) for key, task in runs if task)}


def _on_the_board() -> Q:
    """What may enter a row at all: published, measured, of a methodology that is current."""
    return Q(
        status=Run.Status.PUBLISHED,
        is_simulated=False,
        is_canary=False,
        task__isnull=False,
        methodology__in=(METHODOLOGY_VERSION, CLAIMED),
    ) & ~Q(suite="calibrate")


def _rebuild_row(pair: Pair) -> None:
    key, task = pair
    runs = list(_measured_runs(key, task))
    if not runs:
        BoardRow.objects.filter(config_key=key, task=task).delete()
        return
    payload = pooling.row(runs)
    BoardRow.objects.update_or_create(config_key=key, task=task, defaults=_stored(payload))


def _measured_runs(key: str, task: str) -> Iterator[pooling.Measured]:
    runs = Run.objects.filter(_on_the_board(), config_key=key, task=task).order_by("pk")
    for run in runs.select_related("node", "columns").only(*_READ).iterator(chunk_size=500):
        yield measured(run, item_scores(run))


def _stored(payload: dict[str, Any]) -> dict[str, Any]:
    columns = {name: payload[name] for name in _COLUMNS}
    return {**columns, "updated_at": datetime.fromisoformat(payload["updated_at"]), "payload": payload}


def _rank_task(task: str) -> None:
    """Ranks hold within one task, over all configurations."""
    rows = list(BoardRow.objects.filter(task=task))
    changed = []
    for row, (rank, place) in zip(rows, pooling.standings([row.payload for row in rows]), strict=True):
        if (row.rank, row.place, row.payload["rank"]) != (rank, place, rank):
            row.rank, row.place, row.payload = rank, place, {**row.payload, "rank": rank}
            changed.append(row)
    BoardRow.objects.bulk_update(changed, ["rank", "place", "payload"], batch_size=500)
