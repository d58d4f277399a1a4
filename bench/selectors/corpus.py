"""The corpus as its download holds it."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils.crypto import salted_hmac

from bench.corpus.lines import public_facts
from bench.corpus.rederive import Check, check_rows
from bench.models import BoardConfig, BoardRow, CorpusRelease, Run
from bench.rows import machine_of
from bench.selectors.board import on_the_board
from bench.settling import Entry

LICENCE = "CC BY 4.0"
LICENCE_URL = "https://creativecommons.org/licenses/by/4.0/"


def corpus_lines(condition: Q | None = None) -> Iterator[dict[str, Any]]:
    """Every run that a row rests on, with its items and trace; in a stable order, a few in memory at a time."""
    for run in _runs(condition or Q()).iterator(chunk_size=50):
        yield corpus_line(run)


def corpus_line(run: Run) -> dict[str, Any]:
    """One run as everybody may download it."""
    columns = getattr(run, "columns", None)
    node = run.node.counted.public_id if run.node else None
    return {
        "id": str(run.pk),
        "node": node,
        "machine": _public_machine(node, machine_of(run)),
        "date": run.measured_at.date().isoformat() if run.measured_at else None,
        "suite": run.suite,
        "task": run.task,
        "model": run.model,
        "config_key": run.config_key,
        "config": run.config,
        "methodology_version": run.methodology,
        "tier": run.tier,
        "correctness_word": run.correctness_word,
        "flags": run.flags,
        "figures": run.figures,
        "facts": public_facts(run.facts, run.figures),
        "items": columns.items() if columns else {},
        "trace": columns.trace() if columns else {},
        "updated_at": (run.decided_at or run.received_at).isoformat(timespec="seconds"),
    }


def corpus_rows() -> list[dict[str, Any]]:
    """All rows of the board."""
    return list(BoardRow.objects.order_by("task", "config_key").values_list("payload", flat=True))


def corpus_release() -> CorpusRelease | None:
    """The newest download."""
    return CorpusRelease.objects.order_by("-version").first()


def verify_row(config_key: str, task: str) -> Check | None:
    """A published row derived again from what the download holds of it, beside the other rows as they are.

    None if there is no such row.
    """
    rows = BoardRow.objects.filter(config_key=config_key).values_list("payload", flat=True)
    lines = corpus_lines(Q(config_key=config_key))
    return next((check for check in check_rows(lines, list(rows), _beside(config_key)) if check.task == task), None)


def _beside(config_key: str) -> list[Entry]:
    configs = dict(BoardConfig.objects.values_list("config_key", "config"))
    others = BoardRow.objects.exclude(config_key=config_key)
    return [Entry(row.payload, configs[row.config_key], _by_node(row.machines)) for row in others]


def _by_node(machines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Machines by the names that the download has for them."""
    return [{**one, "machine": _public_machine(one["node"], one["machine"])} for one in machines]


def _public_machine(node: str | None, machine: str) -> str:
    """The machine's public name; 8 hex for the unnamed one of an account, from which no account follows."""
    return node or salted_hmac("bench.unnamed", machine, algorithm="sha256").hexdigest()[:8]


def _runs(condition: Q) -> QuerySet[Run]:
    counted = Coalesce("account__submitter__counts_as_id", "account_id")
    found = Run.objects.filter(on_the_board(), condition).annotate(counted_account_id=counted)
    runs = found.select_related("node__counts_as", "columns")
    return runs.defer("claimed", "gates").order_by("pk")
