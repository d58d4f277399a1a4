"""Reads of the corpus. Page, JSON, CSV and tools show one number for one row because all call these."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Count, F, OrderBy, Prefetch, Q, QuerySet

from accounts.models import User
from bench.models import Alias, BoardRow, BoardState, Decision, Node, Run, RunColumns, Submission
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


@dataclass(frozen=True, slots=True)
class Flag:
    """A mark on a run or row: a stable code, two or three words, one sentence."""

    code: str
    label: str
    sentence: str


@dataclass(frozen=True, slots=True)
class RunDetail:
    """All that is public about one run. Times in `items`, `trace` and `ledger` are seconds of the run's own clock."""

    id: UUID
    node: str | None
    status: str
    task: str | None
    model: str
    config_key: str
    config: dict[str, str | None]
    gpu_name: str | None
    driver_version: str | None
    suite: str
    methodology_version: str
    is_simulated: bool
    date: date | None
    tier: str | None
    tier_reasons: list[str]
    correctness_word: str
    flags: list[Flag]
    figures: dict[str, Any]
    ledger: list[dict[str, Any]]
    gates: list[dict[str, Any]]
    items: dict[str, list[Any]] = field(default_factory=dict)
    trace: dict[str, Any] = field(default_factory=dict)
    decisions: list[dict[str, Any]] = field(default_factory=list)


def data_version() -> str:
    """The version of the published data; it changes with every rebuild of the board."""
    state = BoardState.objects.first()
    return str(state.version if state else 0)


def board_rows(query: BoardQuery) -> list[dict[str, Any]]:
    """The measured rows, sorted, null last."""
    rows = _filtered(query).order_by(*_order(query.sort))
    return [row.payload for row in rows.only("payload")[query.offset : query.offset + query.limit]]


def rows_of(config_keys: Sequence[str], *, task: str | None = None) -> list[dict[str, Any]]:
    """The rows of these configurations, in their order: on one task, or on all of them by name."""
    found = BoardRow.objects.filter(config_key__in=config_keys, **({"task": task} if task else {})).order_by("task")
    place = {key: number for number, key in enumerate(config_keys)}
    return sorted((row.payload for row in found.only("payload")), key=lambda row: place[row["config_key"]])


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


def board_facets() -> dict[str, list[dict[str, Any]]]:
    """For each filter its values, each with its number of rows, most frequent first."""
    names = {"task": "task", "gpu_class": "gpu_class", "model": "model", "quant": "quantization", "engine": "engine"}
    return {name: _facet(column) for name, column in {**names, "tier": "tier"}.items()}


def run_detail(run_id: UUID, *, viewer: User | None = None) -> RunDetail | None:
    """A published run, or one that `viewer` sent or may moderate; None for everybody else."""
    run = Run.objects.select_related("node", "columns").filter(pk=run_id).first()
    if run is None or not _may_see(run, viewer):
        return None
    columns = getattr(run, "columns", None)
    return _detail(run, columns, run.decisions.all())


def run_figures(run_id: str) -> dict[str, Any]:
    """Everything the server derived about one published run, without its long tables; empty if there is none."""
    run = Run.objects.filter(pk=run_id, status=Run.Status.PUBLISHED).only("figures").first()
    return dict(run.figures) if run else {}


def corpus_counts() -> dict[str, int]:
    """Published measured runs, and the machines that they came from."""
    measured = Run.objects.filter(status=Run.Status.PUBLISHED, is_simulated=False)
    return measured.aggregate(runs=Count("pk"), machines=Count("node", distinct=True))


def moderation_log(*, limit: int = MAX_LIMIT, offset: int = 0) -> list[dict[str, Any]]:
    """What people decided, newest first: what, when, why; never who submitted."""
    entries = _public_decisions().select_related("run")[offset : offset + limit]
    return [{**_decision(entry), **_subject(entry.run)} for entry in entries]


def moderation_log_count() -> int:
    return _public_decisions().count()


def submissions_of(account: User) -> QuerySet[Submission]:
    """The account's own submissions, newest first."""
    runs = Prefetch("runs", Run.objects.defer("figures", "facts", "config", "claimed").prefetch_related("decisions"))
    return Submission.objects.filter(account=account).defer("bundle_packed").prefetch_related(runs)


def nodes_of(account: User) -> QuerySet[Node]:
    """The account's own machines."""
    return Node.objects.filter(account=account).annotate(n_runs=Count("runs"))


def submission_summary(submission: Submission) -> dict[str, Any]:
    """A submission for its owner: each run's state, the gates that it did not pass, and what was decided."""
    names = ("id", "status", "suite", "schema_version", "sha256", "generated_at", "received_at")
    runs = sorted(submission.runs.all(), key=lambda run: run.index)
    return {**{name: getattr(submission, name) for name in names}, "runs": [_own_run(run) for run in runs]}


def gates_failed(run: Run) -> list[dict[str, Any]]:
    """The gates that hold or mark a run."""
    return [gate for gate in run.gates if gate["passed"] is False]


def names_listed() -> dict[str, frozenset[str]]:
    """The names that maintainers know, by kind: only they may reach spreadsheets and language models."""
    known: dict[str, set[str]] = {kind: set() for kind in Alias.Kind.values}
    for kind, name in Alias.objects.values_list("kind", "name"):
        known[kind].add(name)
    return {kind: frozenset(names) for kind, names in known.items()}


def _own_run(run: Run) -> dict[str, Any]:
    names = ("id", "index", "status", "model", "task", "gpu_class", "tier", "tier_claimed", "joules_per_correct_answer")
    decisions = [_decision(decision) for decision in run.decisions.all()]
    return {**{name: getattr(run, name) for name in names}, "gates": gates_failed(run), "decisions": decisions}


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


def _facet(column: str) -> list[dict[str, Any]]:
    counted = BoardRow.objects.exclude(**{f"{column}__isnull": True}).values(column).annotate(n=Count("pk"))
    return [{"value": row[column], "count": row["n"]} for row in counted.order_by("-n", column)]


def _may_see(run: Run, viewer: User | None) -> bool:
    if run.status == Run.Status.PUBLISHED and (settings.DEMO or not run.is_simulated):
        return True
    return viewer is not None and (run.account_id == viewer.pk or viewer.has_perm("bench.moderate_run"))


def _detail(run: Run, columns: RunColumns | None, decisions: Sequence[Decision] | QuerySet[Decision]) -> RunDetail:
    figures = dict(run.figures)
    return RunDetail(
        id=run.pk,
        node=run.node.public_id if run.node else None,
        status=run.status,
        task=run.task,
        model=run.model,
        config_key=run.config_key,
        config={name: None if value is None else str(value) for name, value in run.config.items()},
        gpu_name=run.facts.get("gpu_name"),
        driver_version=run.facts.get("driver_version"),
        suite=run.suite,
        methodology_version=run.methodology,
        is_simulated=run.is_simulated,
        date=run.measured_at.date() if run.measured_at else None,
        tier=run.tier,
        tier_reasons=figures.pop("tier_reasons", []),
        correctness_word=run.correctness_word,
        flags=[Flag(**flag) for flag in run.flags],
        ledger=figures.pop("ledger", []),
        figures=figures,
        gates=run.gates,
        items=columns.items() if columns else {},
        trace=columns.trace() if columns else {},
        decisions=[_decision(decision) for decision in decisions],
    )


def _public_decisions() -> QuerySet[Decision]:
    return Decision.objects.exclude(action=Decision.Action.QUARANTINE)


def _decision(decision: Decision) -> dict[str, Any]:
    return {
        "at": decision.at,
        "action": decision.action,
        "reason_code": decision.reason_code,
        "reason": decision.get_reason_code_display(),
        "note": decision.note,
        "decider": decision.decider,
    }


def _subject(run: Run) -> dict[str, Any]:
    return {
        "run_id": str(run.pk),
        "model": run.model,
        "task": run.task,
        "gpu_class": run.gpu_class,
        "status": run.status,
    }
