"""API keys of machines."""

import hashlib
import logging
import secrets
from datetime import datetime, timedelta
from uuid import UUID

from django.db import OperationalError
from django.db.models import Q

from accounts.errors import FieldRefused, NotFound
from accounts.models import ApiKey, User
from asyncenergy import clock

KEY_BYTES = 32
HINT_LENGTH = 8
STAMP_EVERY = timedelta(minutes=1)
logger = logging.getLogger(__name__)


def api_key_create(*, user: User, name: str, scope: str, expires_at: datetime | None = None) -> tuple[ApiKey, str]:
    """Return the stored key, and the secret that is shown once and kept nowhere."""
    if expires_at is not None and expires_at <= clock.now():
        raise FieldRefused("expires_at", "in_the_past", f"{expires_at.isoformat()} has passed. Write a later time.")
    secret = "ae_" + secrets.token_urlsafe(KEY_BYTES)
    key = ApiKey.objects.create(
        user=user,
        name=name,
        scope=scope,
        expires_at=expires_at,
        hint=secret[:HINT_LENGTH],
        sha256=hashlib.sha256(secret.encode()).hexdigest(),
    )
    return key, secret


def api_key_revoke(*, user: User, key_id: UUID) -> ApiKey:
    """Revoke the owner's key for good; revoking it again changes nothing."""
    key = ApiKey.objects.filter(pk=key_id, user=user).first()
    if key is None:
        raise NotFound("API key")
    if key.revoked_at is None:
        key.revoked_at = clock.now()
        key.save(update_fields=["revoked_at"])
    return key


def api_key_stamp(*, key: ApiKey) -> None:
    """Note that the key was used, at most once a minute. A busy database never costs the caller its answer."""
    now = clock.now()
    if key.last_used_at is not None and now - key.last_used_at < STAMP_EVERY:
        return
    stale = Q(last_used_at=None) | Q(last_used_at__lte=now - STAMP_EVERY)
    try:
        ApiKey.objects.filter(stale, pk=key.pk).update(last_used_at=now)
    except OperationalError:
        logger.warning("The last use of API key %s was not noted: the database is busy", key.pk)
