"""Reads of notices."""

from django.db.models import QuerySet

from accounts.models import User
from scheduling.models import Notice

LATEST = 20


def latest_notices(account: User) -> QuerySet[Notice]:
    return Notice.objects.filter(account=account)[:LATEST]
