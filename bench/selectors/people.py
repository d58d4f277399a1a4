"""Accounts that count as one person."""

from accounts.models import User
from bench.models import Submitter


def root_account(account: User) -> int:
    """The account that this one counts as; itself, unless it was merged into another."""
    found = Submitter.objects.filter(account=account).values_list("counts_as_id", flat=True).first()
    return found or account.pk


def same_person(account: User) -> frozenset[int]:
    """The accounts that count as one with this one, itself among them."""
    root = root_account(account)
    merged = Submitter.objects.filter(counts_as=root).values_list("account_id", flat=True)
    return frozenset({root, account.pk, *merged})
