"""What the corpus does when an account is deleted."""

import uuid

from django.db import transaction

from accounts.models import User
from asyncenergy import clock
from bench.models import Decision, Node, ReviewStatus, Run, RunColumns, Submission
from bench.services.moderation import submission_withdraw

GONE = "deleted-{}@asyncenergy.invalid"


@transaction.atomic
def account_delete(*, account: User, keeps_figures: bool) -> None:
    """Delete an account and the bundles that it sent.

    Its published figures stay without any link to it, or are withdrawn, as its owner wants. Runs that were never
    published are withdrawn, and nothing is kept of them but their place in the log of decisions.
    """
    for submission in Submission.objects.filter(account=account).defer("bundle_packed"):
        submission_withdraw(submission=submission, by=account, keeps_published=keeps_figures)
    RunColumns.objects.filter(run__account=account).exclude(run__status=ReviewStatus.PUBLISHED).delete()
    nobody = User.objects.create_user(GONE.format(uuid.uuid4().hex), None, is_active=False)
    _hand_over(account, nobody)
    account.delete()


def _hand_over(account: User, nobody: User) -> None:
    """Nothing that stays leads back: no bundle, no hash of a machine, no name beside a decision."""
    Submission.objects.filter(account=account).update(account=nobody, bundle_packed=b"")
    Run.objects.filter(account=account).update(account=nobody)
    for node in Node.objects.filter(account=account):
        node.account, node.node_hash, node.updated_at = nobody, f"deleted-{uuid.uuid4().hex}", clock.now()
        node.save(update_fields=["account", "node_hash", "updated_at"])
    Decision.objects.filter(by=account).update(by=None)
