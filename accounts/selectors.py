"""All reads on accounts."""

import hashlib
from functools import cache
from uuid import UUID
from zoneinfo import available_timezones

from django.contrib.auth.tokens import default_token_generator
from django.db.models import Q, QuerySet
from django.utils.crypto import constant_time_compare
from django.utils.http import urlsafe_base64_decode

from accounts.models import ApiKey, Login, User
from asyncenergy import clock


@cache
def timezone_names() -> tuple[str, ...]:
    return tuple(sorted(available_timezones()))


def is_timezone(name: str) -> bool:
    return name in timezone_names()


def login_find(login_id: object) -> Login | None:
    """Return the login that a token names, None where it was ended, outlived a password, or its account is closed."""
    try:
        key = UUID(str(login_id))
    except ValueError:
        return None
    login = Login.objects.select_related("user").filter(pk=key, revoked_at=None, user__is_active=True).first()
    if login is None or not constant_time_compare(login.session_hash, login.user.get_session_auth_hash()):
        return None
    return login


def api_key_find(secret: str) -> ApiKey | None:
    """Return the key that is valid now; None for a wrong, unknown, expired or revoked one."""
    sha256 = hashlib.sha256(secret.encode()).hexdigest()
    unexpired = Q(expires_at=None) | Q(expires_at__gt=clock.now())
    keys = ApiKey.objects.select_related("user").filter(unexpired, revoked_at=None, user__is_active=True)
    return keys.filter(sha256=sha256).first()


def api_keys_of(user: User) -> QuerySet[ApiKey]:
    """Return the keys that are not revoked, newest first."""
    return ApiKey.objects.filter(user=user, revoked_at=None)


def account_of_reset_link(uid: str, token: str) -> User | None:
    try:
        user = User.objects.get(pk=int(urlsafe_base64_decode(uid)), is_active=True)
    except (ValueError, OverflowError, User.DoesNotExist):
        return None
    return user if default_token_generator.check_token(user, token) else None
