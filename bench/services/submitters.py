"""Accounts that submit: several of one person count once, and one may be shut out."""

from collections.abc import Collection

from django.db import transaction
from django.db.models import Q

from accounts.models import User
from asyncenergy import clock
from asyncenergy.errors import AsyncEnergyError
from bench.errors import Banned, NotAllowed, ReasonMissing
from bench.models import Decision, Node, ReviewStatus, Run, Submitter
from bench.selectors.people import root_account, same_person
from bench.services.board import runs_mark_dirty
from bench.services.moderation import Outcome, runs_decide
from bench.services.nodes import MODERATE

HIDEABLE = (ReviewStatus.PENDING, ReviewStatus.QUARANTINED, ReviewStatus.PUBLISHED)


def require_welcome(account: User) -> None:
    """Raises Banned where a maintainer has shut the account out."""
    banned = Submitter.objects.filter(account=account, banned_at__isnull=False).first()
    if banned:
        raise Banned(banned.note)


@transaction.atomic
def submitters_merge(*, source: User, target: User, by: User, note: str = "") -> None:
    """Let `source` count as `target` from now on, also in what was published before."""
    _require_moderator(by, source, target)
    root = root_account(target)
    if source.pk in same_person(target):
        raise AsyncEnergyError("They count as one already.", code="already_merged")
    group = same_person(source)
    for account_id in sorted(group):
        _save(account_id, counts_as_id=root, note=note)
    _join_machines(root, group)
    runs_mark_dirty(_published(group))


@transaction.atomic
def submitter_part(*, account: User, by: User) -> None:
    """Undo a merger: the account counts by itself again."""
    _require_moderator(by, account)
    _save(account.pk, counts_as_id=None)
    for node in Node.objects.filter(account=account, counts_as__isnull=False):
        node.counts_as = None
        node.save(update_fields=["counts_as"])
    runs_mark_dirty(_published({account.pk}))


@transaction.atomic
def submitter_ban(*, account: User, by: User, note: str, hides_runs: bool = False) -> Outcome:
    """Take no more bundles of this account; with `hides_runs` hide what it has sent, each with the note in the log."""
    _require_moderator(by, account)
    if not note.strip():
        raise ReasonMissing("ban")
    _save(account.pk, banned_at=clock.now(), note=note.strip())
    if not hides_runs:
        return Outcome()
    runs = Run.objects.filter(account=account, status__in=HIDEABLE).values_list("pk", flat=True)
    return runs_decide(
        run_ids=list(runs), action=Decision.Action.REJECT, by=by, reason_code=Decision.Reason.OTHER, note=note
    )


@transaction.atomic
def submitter_lift_ban(*, account: User, by: User) -> None:
    """Take bundles again. What was hidden stays hidden until somebody takes it up again."""
    _require_moderator(by, account)
    _save(account.pk, banned_at=None, note="")


def _require_moderator(by: User, *accounts: User) -> None:
    own = {account_id for account in accounts for account_id in same_person(account)}
    if not by.has_perm(MODERATE) or by.pk in own:
        raise NotAllowed("Only maintainers decide this, and nobody about their own account.", code="not_a_maintainer")


def _save(account_id: int, **changes: object) -> None:
    submitter = Submitter.objects.filter(account_id=account_id).first() or Submitter(account_id=account_id)
    for name, value in changes.items():
        setattr(submitter, name, value)
    submitter.save()


def _join_machines(root: int, group: frozenset[int]) -> None:
    """A machine that both accounts know is one machine."""
    theirs = Node.objects.filter(Q(account_id=root) | Q(account__submitter__counts_as=root)).exclude(account__in=group)
    known = {node.node_hash: node for node in theirs.order_by("-pk")}
    for node in Node.objects.filter(account__in=group, node_hash__in=known):
        node.counts_as = known[node.node_hash].counted
        node.save(update_fields=["counts_as"])


def _published(accounts: Collection[int]) -> list[Run]:
    return list(Run.objects.filter(account__in=accounts, status=ReviewStatus.PUBLISHED).only("config_key", "task"))
