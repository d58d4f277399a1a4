"""Names that the maintainers know, and which spellings mean the same."""

from collections.abc import Iterable

from django.db import transaction

from bench.configuration import config_key, device_class
from bench.models import Alias, Run
from bench.services.board import runs_mark_dirty

_CONFIG_NAME = {Alias.Kind.MODEL: "model", Alias.Kind.ENGINE: "engine", Alias.Kind.GPU: "gpu_class"}


@transaction.atomic
def alias_set(*, kind: str, raw: str, name: str) -> Alias:
    """Show `raw` as `name` from now on, in the rows that are there as well: runs of one name meet in one row."""
    alias = Alias.objects.filter(kind=kind, raw=raw).first() or Alias(kind=kind, raw=raw)
    shown_before, alias.name = alias.name or raw, name
    alias.save()
    if shown_before != name:
        _rename(Alias.Kind(kind), raw, shown_before, name)
    return alias


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


def _rename(kind: Alias.Kind, raw: str, before: str, after: str) -> None:
    column = _CONFIG_NAME[kind]
    shown = Run.objects.filter(**{column: before}).select_related("node")
    runs = [run for run in shown if name_sent(run, kind) == raw]
    runs_mark_dirty(runs)
    for run in runs:
        setattr(run, column, after)
        run.config = {**run.config, column: after}
        run.config_key = config_key(run.config)
    Run.objects.bulk_update(runs, ["config", "config_key", column], batch_size=500)
    runs_mark_dirty(runs)
