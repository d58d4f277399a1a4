"""Rebuilds the board, outside of any request."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.db.models import Model
from django.db.models.functions import Coalesce

from asyncenergy import clock
from bench.aggregation import Aggregate, aggregate
from bench.errors import BoardBusy
from bench.models import BoardConfig, BoardRow, BoardState, BoardSweep, DirtyMark, Run
from bench.rows import source
from bench.selectors.board import BoardStamp, on_the_board
from bench.services.answers import answers_store
from bench.settling import Entry, Settled, settled
from bench.sweeps import Sweep

ATTEMPTS = 3
SHAPE = 2  # rises with every change to what a row, a configuration or a sweep holds
Pair = tuple[str, str]  # config_key, task

# what an aggregate is made of; the rest of a run stays in the database
_READ = (
    "config_key",
    "config",
    "task",
    "suite",
    "methodology",
    "tier",
    "correctness_word",
    "facts",
    "figures",
    "flags",
    "received_at",
    "decided_at",
    "account_id",
    "item_set",
    "node__is_counted",
    "node__public_id",
    "node__counts_as__public_id",
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


@dataclass(frozen=True, slots=True)
class _Board:
    """The board as it is stored."""

    rows: dict[Pair, BoardRow]
    configs: dict[str, BoardConfig]

    @classmethod
    def stored(cls) -> "_Board":
        rows = {(row.config_key, row.task): row for row in BoardRow.objects.all()}
        return cls(rows, {config.pk: config for config in BoardConfig.objects.all()})


def runs_mark_dirty(runs: Iterable[Run]) -> None:
    """Say that the rows of these runs are stale; the worker rebuilds them."""
    pairs = {(run.config_key, run.task) for run in runs if run.task}
    DirtyMark.objects.bulk_create(DirtyMark(config_key=key, task=task) for key, task in sorted(pairs))


def board_rebuild(*, full: bool = False, now: datetime | None = None) -> int:
    """Rebuild the stale configurations, or all of them, and settle the board. Returns how many were rebuilt.

    All are stale that an earlier version of the program made. The arithmetic holds no lock. If another rebuild came
    first, it starts again.
    """
    for _ in range(ATTEMPTS):
        version, shape = BoardState.objects.filter(pk=1).values_list("version", "shape").first() or (0, SHAPE)
        marks = list(DirtyMark.objects.all())
        keys = _all_keys() if full or shape != SHAPE else {mark.config_key for mark in marks}
        if not keys:
            return 0
        found = {key: _aggregate(key) for key in sorted(keys)}
        if _replace(version, found, marks, now or clock.now()):
            return len(keys)
    raise BoardBusy


def _all_keys() -> set[str]:
    runs = Run.objects.filter(on_the_board()).order_by().values_list("config_key", flat=True).distinct()
    return {*BoardRow.objects.values_list("config_key", flat=True), *runs}


def _aggregate(key: str) -> Aggregate | None:
    counted = Coalesce("account__submitter__counts_as_id", "account_id")
    published = Run.objects.filter(on_the_board(), config_key=key).annotate(counted_account_id=counted)
    runs = published.order_by("pk").select_related("node__counts_as", "columns")
    sources = [source(run) for run in runs.only(*_READ).iterator(chunk_size=500)]
    return aggregate(sources) if sources else None


@transaction.atomic
def _replace(version: int, found: dict[str, Aggregate | None], marks: Collection[DirtyMark], now: datetime) -> bool:
    """Put the new aggregates among the stored ones, and settle all of them. False if the board has moved on."""
    state, _ = BoardState.objects.select_for_update().get_or_create(pk=1, defaults={"updated_at": now})
    if state.version != version:
        return False
    board = _Board.stored()
    fresh = {key: one for key, one in found.items() if one}
    new = settled(_entries(board, found.keys(), fresh.values()))
    _save_rows(board, new, fresh)
    _save_configs(board, new, fresh)
    _save_sweeps(new.sweeps)
    DirtyMark.objects.filter(pk__in=[mark.pk for mark in marks]).delete()
    state.version, state.token, state.shape, state.updated_at = version + 1, uuid4().hex, SHAPE, now
    state.save(update_fields=["version", "token", "shape", "updated_at"])
    answers_store(BoardStamp(state.version, state.token))
    return True


def _entries(board: _Board, rebuilt: Collection[str], fresh: Iterable[Aggregate]) -> Iterator[Entry]:
    for (key, _), row in board.rows.items():
        if key not in rebuilt:
            yield Entry(row.payload, board.configs[key].config, row.machines)
    for one in fresh:
        for pooled in one.rows.values():
            yield Entry(pooled.payload, one.config, pooled.machines)


def _save_rows(board: _Board, new: Settled, fresh: dict[str, Aggregate]) -> None:
    changed = []
    for (key, task), payload in new.payloads.items():
        before, place = board.rows.get((key, task)), new.places[key, task]
        machines = fresh[key].rows[task].machines if key in fresh else before.machines if before else []
        if before is None or (before.payload, before.place, before.machines) != (payload, place, machines):
            changed.append(BoardRow(task=task, config_key=key, place=place, machines=machines, **_columns(payload)))
    BoardRow.objects.filter(pk__in=[board.rows[pair].pk for pair in board.rows.keys() - new.payloads.keys()]).delete()
    _upsert(BoardRow, changed, ["config_key", "task"])


def _columns(payload: dict[str, Any]) -> dict[str, Any]:
    columns = {name: payload[name] for name in (*_COLUMNS, "rank")}
    return {**columns, "updated_at": datetime.fromisoformat(payload["updated_at"]), "payload": payload}


def _save_configs(board: _Board, new: Settled, fresh: dict[str, Aggregate]) -> None:
    changed = []
    for key, grade in new.grades.items():
        before = board.configs.get(key)
        payload = fresh[key].payload if key in fresh else before.payload if before else {}
        payload = {**payload, "grades": grade.grades, "letter_grade": grade.letter}
        if before is None or before.payload != payload:
            changed.append(BoardConfig(config_key=key, config=payload["config"], payload=payload))
    BoardConfig.objects.filter(pk__in=board.configs.keys() - new.grades.keys()).delete()
    _upsert(BoardConfig, changed, ["config_key"])


def _upsert(model: type[Model], records: list[Any], unique: list[str]) -> None:
    names = [f.attname for f in model._meta.concrete_fields if not f.primary_key and f.attname not in unique]
    model._default_manager.bulk_create(
        records, batch_size=200, update_conflicts=True, unique_fields=unique, update_fields=names
    )


def _save_sweeps(found: Iterable[Sweep]) -> None:
    new = [sweep.as_dict() for sweep in found]
    if list(BoardSweep.objects.order_by("pk").values_list("payload", flat=True)) == new:
        return
    BoardSweep.objects.all().delete()
    names = ("kind", "task", "gpu_class", "model")
    BoardSweep.objects.bulk_create(BoardSweep(payload=one, **{name: one[name] for name in names}) for one in new)
