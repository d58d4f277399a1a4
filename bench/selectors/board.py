"""Rows of the board, as page, JSON, CSV and tools get them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from asyncenergy_controller.metrics import METHODOLOGY_VERSION
from django.conf import settings
from django.db import OperationalError, connection
from django.db.models import Count, F, OrderBy, Q, QuerySet

from bench.configuration import CLAIMED
from bench.models import BoardRow, BoardState, Run
from bench.rows import row_of_run

SORTS = {
    "joules_per_correct_answer": "place",
    "joules_per_token": "joules_per_token",
    "joules_per_item": "joules_per_item",
    "accuracy": "accuracy",
    "pooled_tokens_per_second": "pooled_tokens_per_second",
    "ttft_p50_s": "ttft_p50_s",
    "n_items": "n_items",
    "n_runs": "n_runs",
    "n_nodes": "n_nodes",
    "model": "model",
    "tier": "tier",
    "updated_at": "updated_at",
}
DEFAULT_SORT = "joules_per_correct_answer"
MAX_LIMIT = 500
_STAMP = f"SELECT version, token FROM {BoardState._meta.db_table} WHERE id = 1"  # noqa: S608  # a name of ours


@dataclass(frozen=True, slots=True)
class BoardQuery:
    """What a reader asks of the board. `sort` is a key of SORTS, with ``-`` in front for descending;
    `tier` is one tier or several (``"AB"``); unknown values of a filter give an empty answer."""

    gpu_class: str | None = None
    task: str | None = None
    quant: str | None = None
    model: str | None = None
    engine: str | None = None
    tier: str | None = None
    min_accuracy: float | None = None
    sort: str = DEFAULT_SORT
    limit: int = MAX_LIMIT
    offset: int = 0


def data_version() -> str:
    """The version of the published data; it changes with every rebuild of the board."""
    return str(board_stamp().version)


class BoardStamp(NamedTuple):
    """Which board this is: its version, and the token of the rebuild that made it."""

    version: int
    token: str


def board_stamp() -> BoardStamp:
    """Asked by every public read, so without what a queryset costs, and without asking first whether a kept connection
    still lives: one that broke is opened again."""
    connection.health_check_done = True  # type: ignore[attr-defined]  # a public name that the stubs lack
    try:
        return _stamp()
    except OperationalError:
        if connection.in_atomic_block:
            raise
        connection.close()
        return _stamp()


def _stamp() -> BoardStamp:
    with connection.cursor() as cursor:
        cursor.execute(_STAMP)
        found = cursor.fetchone()
    return BoardStamp(*found) if found else BoardStamp(0, "")


def board_rows(query: BoardQuery) -> list[dict[str, Any]]:
    """The measured rows, sorted, null last."""
    rows = _filtered(query).order_by(*_order(query.sort))
    return [row.payload for row in rows.only("payload")[query.offset : query.offset + query.limit]]


def on_the_board() -> Q:
    """What may enter a row at all: published, measured, of a methodology that is current."""
    return Q(
        status=Run.Status.PUBLISHED,
        is_simulated=False,
        is_canary=False,
        task__isnull=False,
        methodology__in=(METHODOLOGY_VERSION, CLAIMED),
    ) & ~Q(suite="calibrate")


def rows_of(config_keys: Sequence[str], *, task: str | None = None) -> list[dict[str, Any]]:
    """The rows of these configurations, in their order: on one task, or on all of them by name."""
    found = BoardRow.objects.filter(config_key__in=config_keys, **({"task": task} if task else {})).order_by("task")
    place = {key: number for number, key in enumerate(config_keys)}
    return sorted((row.payload for row in found.only("payload")), key=lambda row: place[row["config_key"]])


def row_with_net() -> dict[str, Any] | None:
    """A row whose run came with a baseline of the waiting model, that of the least energy; None if there is none."""
    found = BoardRow.objects.exclude(payload__net_jpc=None).filter(place__isnull=False).order_by("place", "pk").first()
    return dict(found.payload) if found else None


def rank_sizes(task: str) -> dict[int, int]:
    """How many rows of a task share each rank, whatever a reader filters."""
    ranked = BoardRow.objects.filter(task=task, rank__isnull=False).order_by()
    return dict(ranked.values_list("rank").annotate(n=Count("pk")))


def board_count(query: BoardQuery) -> int:
    """How many rows the filters leave, whatever the page."""
    return _filtered(query).count()


def simulated_rows(query: BoardQuery) -> list[dict[str, Any]]:
    """Published runs whose energy was simulated: never ranked, never pooled, one row a run. A demonstration's only."""
    if not settings.DEMO:
        return []
    runs = Run.objects.filter(status=Run.Status.PUBLISHED, is_simulated=True).select_related("node")
    matching = runs.filter(_matches(query)).order_by("-received_at", "pk")
    return [row_of_run(run) for run in matching[query.offset : query.offset + query.limit]]


def _filtered(query: BoardQuery) -> QuerySet[BoardRow]:
    return BoardRow.objects.filter(_matches(query))


def _matches(query: BoardQuery) -> Q:
    named = {
        "gpu_class": query.gpu_class,
        "task": query.task,
        "quantization": query.quant,
        "model": query.model,
        "engine": query.engine,
    }
    condition = Q(**{column: value for column, value in named.items() if value})
    if query.tier:
        condition &= Q(tier__in=list(query.tier))
    if query.min_accuracy is not None:
        condition &= Q(accuracy__gte=query.min_accuracy)
    return condition


def _order(sort: str) -> list[OrderBy | str]:
    column = F(SORTS[sort.removeprefix("-")])
    first = column.desc(nulls_last=True) if sort.startswith("-") else column.asc(nulls_last=True)
    return [
        first,
        F("place").asc(nulls_last=True),
        "-verified",
        F("joules_per_correct_answer").asc(nulls_last=True),
        "pk",
    ]
