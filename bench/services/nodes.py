"""Machines of an account."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.crypto import salted_hmac

from accounts.models import User
from asyncenergy import clock
from bench.errors import NotAllowed
from bench.models import Node, ReviewStatus
from bench.selectors.people import same_person
from bench.services.board import runs_mark_dirty

FREE_MACHINES = 3
FREE_WINDOW = timedelta(days=30)
REFERENCE_ID = "H"
MODERATE = "bench.moderate_run"


def public_node_id(account_id: int, node_hash: str) -> str:
    """8 hex that name a machine in public; neither the account nor the hash follows from them."""
    return salted_hmac("bench.node", f"{account_id}:{node_hash}", algorithm="sha256").hexdigest()[:8]


@transaction.atomic
def node_upsert(
    *, account: User, node_hash: str, now: datetime | None = None, is_reference: bool = False, **facts: Any
) -> Node:
    """The account's machine with this hash; what is known of it is kept, what is new is added."""
    now = now or clock.now()
    known = {name: value for name, value in facts.items() if value is not None}
    first: dict[str, Any] = {
        "public_id": REFERENCE_ID if is_reference else public_node_id(account.pk, node_hash),
        "is_reference": is_reference,
        "is_counted": lambda: is_reference or _is_among_the_first(account, now),
        "created_at": now,
        "updated_at": now,
        **known,
    }
    node, _ = Node.objects.get_or_create(account=account, node_hash=node_hash, defaults=first)
    return _told(node, known, now)


def _told(node: Node, known: dict[str, Any], now: datetime) -> Node:
    changed = [name for name, value in known.items() if getattr(node, name) != value]
    if changed:
        for name in changed:
            setattr(node, name, known[name])
        node.updated_at = now
        node.save(update_fields=[*changed, "updated_at"])
    return node


@transaction.atomic
def node_count(*, node: Node, by: User, is_counted: bool = True) -> Node:
    """Let a person decide whether a machine counts as a distinct one."""
    if not by.has_perm(MODERATE) or node.account_id in same_person(by):
        raise NotAllowed("Only maintainers decide this, and nobody about their own machine.", code="not_a_maintainer")
    node.is_counted = is_counted
    node.save(update_fields=["is_counted"])
    runs_mark_dirty(node.runs.filter(status=ReviewStatus.PUBLISHED))
    return node


def _is_among_the_first(account: User, now: datetime) -> bool:
    recent = Node.objects.filter(account__in=same_person(account), created_at__gt=now - FREE_WINDOW, is_counted=True)
    return recent.count() < FREE_MACHINES
