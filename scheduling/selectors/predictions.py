"""Everything that is known of a job before it runs."""

from math import fsum

from django.conf import settings
from django.db.models import QuerySet

from accounts.models import User
from scheduling.jobs import Cap
from scheduling.models import RunRecord, Workflow
from scheduling.predictor import Known, PastRun, relative_shape
from scheduling.selectors.corpus import class_rows, power_caps, prior_w
from scheduling.selectors.pieces import Pieces, pieces_of

RUNS_AT_MOST = 30
SIMULATED = "simulated"


def known_of(workflow: Workflow) -> Known:
    """Return what predicts a workflow: its runs on its controller, the corpus, its nameplate."""
    runs = RunRecord.objects.filter(workflow=workflow)
    if workflow.controller_id:
        runs = runs.filter(controller_id=workflow.controller_id)
    rows = class_rows(workflow.bench_gpu_class, workflow.bench_model_size_class, workflow.bench_quant)
    return Known(past_runs(runs), workflow.est_duration_s, workflow.nameplate_watts, prior_w(rows))


def known_of_fingerprint(account: User, fingerprint: str | None) -> tuple[PastRun, ...]:
    """Return the account's runs of one piece of work, wherever it ran."""
    if not fingerprint:
        return ()
    return past_runs(RunRecord.objects.filter(account=account, fingerprint=fingerprint))


def caps_of(workflow: Workflow) -> tuple[Cap, ...]:
    """Return the power caps that the planner may choose from; only a controller of ours can set one."""
    if not workflow.controller_id:
        return ()
    return power_caps(workflow.bench_gpu_class, workflow.bench_model_size_class, workflow.bench_quant)


def past_runs(runs: QuerySet[RunRecord]) -> tuple[PastRun, ...]:
    """Return successful runs of the same work as the newest of them, newest first, each with all its pieces."""
    done = runs.filter(exit_status=RunRecord.Exit.SUCCESS, duration_s__gt=0)
    recent = list(done.select_related("profile").order_by("-ts", "pk")[:RUNS_AT_MOST])
    same = [run for run in recent if run.fingerprint == recent[0].fingerprint]
    uncapped = [run for run in same if run.cap_w is None]
    whole = pieces_of(uncapped or same).values()
    return tuple(_past(pieces) for pieces in whole if all(piece.duration_s is not None for piece in pieces))


def _past(pieces: Pieces) -> PastRun:
    """The power in each share of a run is known only where it was not interrupted."""
    profile = getattr(pieces[0], "profile", None) if len(pieces) == 1 else None
    shape = relative_shape(profile.wh) if profile else ()
    return PastRun(fsum(piece.duration_s or 0.0 for piece in pieces), measured_wh(pieces), shape)


def measured_wh(pieces: Pieces) -> float | None:
    """Return the energy of a run in Wh; None where a piece of it was not measured."""
    return fsum(piece.energy_wh or 0.0 for piece in pieces) if all(map(is_measured, pieces)) else None


def is_measured(run: RunRecord) -> bool:
    """Whether a run's energy was measured; a simulated meter counts on a demonstration only."""
    return run.energy_wh is not None and (run.energy_source != SIMULATED or settings.DEMO)
