"""One run with its evidence, and counts over all runs."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Count

from accounts.models import User
from bench.models import Decision, Run, RunColumns
from bench.selectors.decisions import decision_words


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


def _may_see(run: Run, viewer: User | None) -> bool:
    if run.status == Run.Status.PUBLISHED and (settings.DEMO or not run.is_simulated):
        return True
    return viewer is not None and (run.account_id == viewer.pk or viewer.has_perm("bench.moderate_run"))


def _detail(run: Run, columns: RunColumns | None, decisions: Iterable[Decision]) -> RunDetail:
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
        decisions=[decision_words(decision) for decision in decisions],
    )
