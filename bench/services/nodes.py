"""Machines of an account."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.crypto import salted_hmac

from accounts.models import User
from asyncenergy import clock
from bench.models import Node

FREE_MACHINES = 3
FREE_WINDOW = timedelta(days=30)
REFERENCE_ID = "H"


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
    node = Node.objects.filter(account=account, node_hash=node_hash).first()
    if node is None:
        return Node.objects.create(
            account=account,
            node_hash=node_hash,
            public_id=REFERENCE_ID if is_reference else public_node_id(account.pk, node_hash),
            is_reference=is_reference,
            is_counted=is_reference or _is_among_the_first(account, now),
            created_at=now,
            updated_at=now,
            **known,
        )
    changed = [name for name, value in known.items() if getattr(node, name) != value]
    if changed:
        for name in changed:
            setattr(node, name, known[name])
        node.updated_at = now
        node.save(update_fields=[*changed, "updated_at"])
    return node


def _is_among_the_first(account: User, now: datetime) -> bool:
    recent = Node.objects.filter(account=account, created_at__gt=now - FREE_WINDOW, is_counted=True)
    return recent.count() < FREE_MACHINES
