"""Decisions. None of them edits a measured field; each stands in the log with its reason."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from uuid import UUID

from django.conf import settings
from django.db import transaction

from accounts.models import User
from asyncenergy import clock
from asyncenergy.errors import AsyncEnergyError
from bench.errors import AlreadyDecided, NotAllowed, OnlyInDemo, ReasonMissing, ReasonUnknown
from bench.models import WAITING, Decision, ReviewStatus, Run, Submission
from bench.selectors.people import same_person
from bench.services.board import runs_mark_dirty
from bench.services.nodes import MODERATE

MAINTAINER = "a maintainer"
SUBMITTER = "the submitter"
REFERENCE = "maintainers (reference data)"
DEMONSTRATION = "demonstration"

_FROM: dict[str, tuple[str, ...]] = {
    Decision.Action.PUBLISH: WAITING,
    Decision.Action.REJECT: (*WAITING, ReviewStatus.PUBLISHED),
    Decision.Action.WITHDRAW: (*WAITING, ReviewStatus.PUBLISHED, ReviewStatus.REJECTED),
    Decision.Action.REINSTATE: (ReviewStatus.REJECTED, ReviewStatus.WITHDRAWN),
}
_TO: dict[str, str] = {
    Decision.Action.PUBLISH: ReviewStatus.PUBLISHED,
    Decision.Action.REJECT: ReviewStatus.REJECTED,
    Decision.Action.WITHDRAW: ReviewStatus.WITHDRAWN,
}
_NEEDS_NOTE = (Decision.Action.REJECT, Decision.Action.WITHDRAW)
_OWNERS_WORD_IS_LAST = (Decision.Action.WITHDRAW, Decision.Action.REINSTATE)
_NOT_A_PERSONS = (
    Decision.Reason.SUBMITTER,
    Decision.Reason.REFERENCE,
    Decision.Reason.DEMO,
    Decision.Reason.RULE,
)
MODERATORS_REASONS = tuple(reason for reason in Decision.Reason if reason not in _NOT_A_PERSONS)
_MOST_URGENT_FIRST = (
    ReviewStatus.QUARANTINED,
    ReviewStatus.PENDING,
    ReviewStatus.PUBLISHED,
    ReviewStatus.REJECTED,
    ReviewStatus.WITHDRAWN,
)


@dataclass(frozen=True, slots=True)
class Decider:
    """Who decides: words for the public log, the account if it is a person's, and the accounts that they may not
    decide on: their own."""

    words: str
    account: User | None = None
    own: frozenset[int] = frozenset()

    def statuses_before(self, action: Decision.Action) -> tuple[str, ...]:
        """From where their decision leads anywhere."""
        again = self.words == SUBMITTER and action == Decision.Action.WITHDRAW
        return (*_FROM[action], ReviewStatus.WITHDRAWN) if again else _FROM[action]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one decision on several runs: those decided, and why the others were not."""

    decisions: list[Decision] = field(default_factory=list)
    refused: list[tuple[Run, AsyncEnergyError]] = field(default_factory=list)


def actions_from(status: str) -> list[Decision.Action]:
    """The decisions that lead anywhere from a status."""
    return [action for action in (Decision.Action(name) for name in _FROM) if status in _FROM[action]]


def run_publish(*, run: Run, by: User, reason_code: str = Decision.Reason.CHECKED, note: str = "") -> Decision:
    """Show the run's recomputed figures to everybody."""
    return _decide_one(run, Decision.Action.PUBLISH, by, reason_code, note)


def run_reject(*, run: Run, by: User, reason_code: str, note: str) -> Decision:
    """Hide the run, waiting or published; it can be taken up again."""
    return _decide_one(run, Decision.Action.REJECT, by, reason_code, note)


def run_withdraw(*, run: Run, by: User, reason_code: str, note: str) -> Decision:
    """Withdraw the run."""
    return _decide_one(run, Decision.Action.WITHDRAW, by, reason_code, note)


def run_reinstate(*, run: Run, by: User, reason_code: str = Decision.Reason.CHECKED, note: str = "") -> Decision:
    """Take a hidden or withdrawn run back into the queue. What its owner withdrew stays withdrawn."""
    return _decide_one(run, Decision.Action.REINSTATE, by, reason_code, note)


def runs_decide(*, run_ids: Collection[UUID], action: str, by: User, reason_code: str, note: str) -> Outcome:
    """Decide on several runs at once; each that can't be decided is returned with its reason."""
    _require_moderator(by)
    _require_reason(action, reason_code, note)
    decider = Decider(MAINTAINER, by, same_person(by))
    return _decide(run_ids, Decision.Action(action), decider, reason_code, note.strip())


def submission_withdraw(*, submission: Submission, by: User, keeps_published: bool = False) -> list[Decision]:
    """Withdraw every run of an own submission, or those that are not published; repeating it changes nothing.

    Runs that a maintainer withdrew are withdrawn once more: what bars their return is the owner's own decision.
    """
    if submission.account_id != by.pk:
        raise NotAllowed("Only the account that sent a submission can withdraw it here.", code="not_yours")
    left = submission.runs.exclude(status=ReviewStatus.PUBLISHED) if keeps_published else submission.runs.all()
    return _decide(
        _ids(left), Decision.Action.WITHDRAW, Decider(SUBMITTER, by), Decision.Reason.SUBMITTER, ""
    ).decisions


def submission_publish_reference(*, submission: Submission) -> list[Decision]:
    """Publish the waiting runs of our own reference data. What a gate holds stays held."""
    waiting = submission.runs.filter(status=ReviewStatus.PENDING)
    return _decide(_ids(waiting), Decision.Action.PUBLISH, Decider(REFERENCE), Decision.Reason.REFERENCE, "").decisions


def submission_publish_demo(*, submission: Submission) -> list[Decision]:
    """Publish the waiting runs of a submission without a maintainer: on a demonstration server only."""
    if not settings.DEMO:
        raise OnlyInDemo
    waiting = submission.runs.filter(status__in=WAITING)
    return _decide(_ids(waiting), Decision.Action.PUBLISH, Decider(DEMONSTRATION), Decision.Reason.DEMO, "").decisions


def _ids(runs: Iterable[Run]) -> list[UUID]:
    return [run.pk for run in runs]


def _decide_one(run: Run, action: Decision.Action, by: User, reason_code: str, note: str) -> Decision:
    outcome = runs_decide(run_ids=[run.pk], action=action, by=by, reason_code=reason_code, note=note)
    if outcome.refused:
        raise outcome.refused[0][1]
    return outcome.decisions[0]


def _require_moderator(by: User) -> None:
    if not by.has_perm(MODERATE):
        raise NotAllowed("Only maintainers decide on runs.", code="not_a_maintainer")


def _require_reason(action: str, reason_code: str, note: str) -> None:
    if reason_code not in MODERATORS_REASONS:
        raise ReasonUnknown(reason_code, MODERATORS_REASONS)
    if action in _NEEDS_NOTE and not note.strip():
        raise ReasonMissing(action)


@transaction.atomic
def _decide(
    run_ids: Collection[UUID], action: Decision.Action, decider: Decider, reason_code: str, note: str
) -> Outcome:
    """The one place where a status changes. Rows are locked, so that two people can't decide at once."""
    outcome = Outcome()
    runs = Run.objects.select_for_update().filter(pk__in=run_ids).order_by("pk").defer("claimed", "facts", "figures")
    locked = list(runs)
    withdrawn_by_owner = _withdrawn_by_owner(run_ids) if action in _OWNERS_WORD_IS_LAST else set()
    for run in locked:
        if error := _refusal(run, action, decider, withdrawn_by_owner):
            outcome.refused.append((run, error))
        else:
            outcome.decisions.append(_applied(run, action, decider, reason_code, note))
    _store([decision.run for decision in outcome.decisions], outcome.decisions)
    return outcome


def _refusal(
    run: Run, action: Decision.Action, decider: Decider, withdrawn_by_owner: set[UUID]
) -> AsyncEnergyError | None:
    if run.account_id in decider.own:
        return NotAllowed("Nobody decides on their own submission; ask another maintainer.", code="own_submission")
    if run.pk in withdrawn_by_owner:
        return AlreadyDecided("The submitter withdrew this run; it stays withdrawn.", code="withdrawn_by_owner")
    if run.status not in decider.statuses_before(action):
        words = f"The run is {run.get_status_display()}; from there it can't be {action.label}."
        return AlreadyDecided(words, code="already_decided")
    return None


def _withdrawn_by_owner(run_ids: Collection[UUID]) -> set[UUID]:
    by_owner = Decision.objects.filter(run__in=run_ids, reason_code=Decision.Reason.SUBMITTER)
    return set(by_owner.values_list("run_id", flat=True))


def _applied(run: Run, action: Decision.Action, decider: Decider, reason_code: str, note: str) -> Decision:
    before, run.decided_at = run.status, clock.now()
    run.status = _TO.get(action) or _waiting_status(run)
    return Decision(
        run=run,
        action=action,
        from_status=before,
        to_status=run.status,
        reason_code=reason_code,
        note=note,
        by=decider.account,
        decider=decider.words,
        at=run.decided_at,
    )


def _waiting_status(run: Run) -> str:
    held = any(gate["severity"] == "quarantine" and gate["passed"] is False for gate in run.gates)
    return ReviewStatus.QUARANTINED if held else ReviewStatus.PENDING


def _store(runs: list[Run], decisions: list[Decision]) -> None:
    Run.objects.bulk_update(runs, ["status", "decided_at"], batch_size=500)
    Decision.objects.bulk_create(decisions, batch_size=500)
    submissions_summarise({run.submission_id for run in runs})
    public = {d.run_id for d in decisions if ReviewStatus.PUBLISHED in (d.from_status, d.to_status)}
    runs_mark_dirty(run for run in runs if run.pk in public)


def submissions_summarise(submission_ids: Collection[UUID]) -> None:
    """Set each submission's status to the one among its runs that asks most of a person."""
    found: dict[UUID, set[str]] = {}
    statuses = Run.objects.filter(submission__in=submission_ids).order_by().values_list("submission_id", "status")
    for submission_id, status in statuses.distinct():
        found.setdefault(submission_id, set()).add(status)
    submissions = list(Submission.objects.filter(pk__in=found).only("status"))
    for submission in submissions:
        submission.status = next(status for status in _MOST_URGENT_FIRST if status in found[submission.pk])
    Submission.objects.bulk_update(submissions, ["status"], batch_size=500)
