"""What the corpus does when an account is deleted."""

import uuid

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import transaction

from accounts.models import User
from asyncenergy import clock
from bench.models import Decision, Node, ReviewStatus, Run, RunColumns, Submission, Submitter, SubmitterAccount
from bench.services.moderation import submission_withdraw

GONE = "deleted-{}@asyncenergy.invalid"


@transaction.atomic
def account_delete(*, account: User, keeps_figures: bool) -> None:
    """Delete an account with all that it schedules, its keys and logins, and the bundles that it sent.

    Its published figures stay without any link to it, or are withdrawn, as its owner wants. Runs that were never
    published are withdrawn; their items and readings go. An account that is gone already changes nothing.
    """
    if not User.objects.select_for_update().filter(pk=account.pk).exists():
        return
    for submission in Submission.objects.filter(account=account).defer("bundle_packed"):
        submission_withdraw(submission=submission, by=account, keeps_published=keeps_figures)
    RunColumns.objects.filter(run__account=account).exclude(run__status=ReviewStatus.PUBLISHED).delete()
    nobody = User.objects.create_user(GONE.format(uuid.uuid4().hex), None, is_active=False)
    _hand_over(account, nobody)
    account_id = account.pk
    account.delete()
    _forget(account_id)


def _hand_over(account: User, nobody: User) -> None:
    """Nothing that stays leads back: no bundle, no hash of a machine, no name beside a decision."""
    Submission.objects.filter(account=account).update(account=nobody, bundle_packed=b"")
    Run.objects.filter(account=account).update(account=nobody)
    for node in Node.objects.filter(account=account):
        node.account, node.node_hash, node.updated_at = nobody, f"deleted-{uuid.uuid4().hex}", clock.now()
        node.save(update_fields=["account", "node_hash", "updated_at"])
    Decision.objects.filter(by=account).update(by=None)


def _forget(account_id: int) -> None:
    """Deleting writes history itself, so the past goes last: what was said of a submitter, and the desk's own log."""
    Submitter.history.filter(account_id=account_id).delete()
    Submitter.history.filter(counts_as_id=account_id).update(counts_as_id=None)
    kinds = ContentType.objects.get_for_models(User, SubmitterAccount, for_concrete_models=False).values()
    named = LogEntry.objects.filter(content_type__in=kinds, object_id=str(account_id))
    named.update(object_repr="a deleted account")
