"""Names that the maintainers know, and which spellings mean the same."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from bench.configuration import config_key, device_class
from bench.models import Alias, BoardRow, Run
from bench.services.board import runs_mark_dirty

_CONFIG_NAME = {Alias.Kind.MODEL: "model", Alias.Kind.ENGINE: "engine", Alias.Kind.GPU: "gpu_class"}


@transaction.atomic
def alias_set(*, kind: str, raw: str, name: str) -> Alias:
    """Show `raw` as `name` from now on, in the rows that are there as well: runs of one name meet in one row."""
    alias = Alias.objects.filter(kind=kind, raw=raw).first() or Alias(kind=kind, raw=raw)
    shown_before, alias.name = alias.name or raw, name
    alias.save()
    runs = _shown(Alias.Kind(kind), raw, shown_before)
    runs_mark_dirty(runs)
    if shown_before != name:
        _rename(Alias.Kind(kind), runs, name)
    return alias


@dataclass(frozen=True, slots=True)
class Meeting:
    """Runs that a name would move together, and the row of the board that they would meet there, if there is one."""

    task: str | None
    config: Mapping[str, Any]
    n_runs: int
    row: Mapping[str, Any] | None


def alias_preview(*, kind: str, raw: str, name: str) -> list[Meeting]:
    """What `alias_set` would do: each configuration and task whose runs would be renamed, and what they would join."""
    before = Alias.objects.filter(kind=kind, raw=raw).values_list("name", flat=True).first() or raw
    column = _CONFIG_NAME[Alias.Kind(kind)]
    moved: dict[tuple[str, str | None], list[Mapping[str, Any]]] = defaultdict(list)
    for run in _shown(Alias.Kind(kind), raw, before) if before != name else ():
        config = {**run.config, column: name}
        moved[config_key(config), run.task].append(config)
    rows = BoardRow.objects.filter(config_key__in={key for key, _ in moved})
    there = {(row.config_key, row.task): row.payload for row in rows}
    found = sorted(moved.items(), key=lambda item: (item[0][1] or "", item[0][0]))
    return [Meeting(task, configs[0], len(configs), there.get((key, task or ""))) for (key, task), configs in found]


@transaction.atomic
def alias_list_names(*, runs: Iterable[Run]) -> None:
    """Make the names of these runs known, each under itself."""
    names = {(kind, run.config[column]) for run in runs for kind, column in _CONFIG_NAME.items()}
    known = (Alias(kind=kind, raw=name, name=name) for kind, name in sorted(names) if name)
    Alias.objects.bulk_create(known, ignore_conflicts=True)


def name_sent(run: Run, kind: str) -> str | None:
    """What the controller called the run's model, engine or device."""
    if kind != Alias.Kind.GPU:
        return str(run.facts[kind])
    device = (run.facts.get("device") or {}).get("kind", "gpu")
    return device_class(run.facts.get("gpu_name"), kind=device, cpu_model=run.node.cpu_model if run.node else None)


def _shown(kind: Alias.Kind, raw: str, shown: str) -> list[Run]:
    """The runs that were sent under one name and are shown under another."""
    runs = Run.objects.filter(**{_CONFIG_NAME[kind]: shown}).select_related("node")
    return [run for run in runs if name_sent(run, kind) == raw]


def _rename(kind: Alias.Kind, runs: list[Run], after: str) -> None:
    column = _CONFIG_NAME[kind]
    for run in runs:
        setattr(run, column, after)
        run.config = {**run.config, column: after}
        run.config_key = config_key(run.config)
    Run.objects.bulk_update(runs, ["config", "config_key", column], batch_size=500)
    runs_mark_dirty(runs)
