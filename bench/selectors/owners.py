"""What belongs to one account, for its owner."""

from typing import Any

from django.db.models import Count, Prefetch, QuerySet

from accounts.models import User
from bench.models import Node, Run, Submission
from bench.selectors.decisions import decision_words


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


def _own_run(run: Run) -> dict[str, Any]:
    names = ("id", "index", "status", "model", "task", "gpu_class", "tier", "tier_claimed", "joules_per_correct_answer")
    decisions = [decision_words(decision) for decision in run.decisions.all()]
    return {**{name: getattr(run, name) for name in names}, "gates": gates_failed(run), "decisions": decisions}
