"""Logins of programs: a short access token, and a refresh token that is good for one use."""

from dataclasses import dataclass

from django.contrib.auth import authenticate
from django.db import IntegrityError, transaction
from rest_framework_simplejwt.exceptions import TokenError
from rest_framework_simplejwt.tokens import AccessToken, RefreshToken

from accounts.errors import TokenInvalid, TokenSpent, WrongCredentials
from accounts.models import Login, SpentToken, User
from accounts.selectors import login_find
from asyncenergy import clock


@dataclass(frozen=True, slots=True)
class TokenPair:
    """What a program holds after it logged in; `expires_in` counts seconds of the access token."""

    access_token: str
    refresh_token: str
    expires_in: int
    user: User
    token_type: str = "bearer"  # noqa: S105


def login_with_password(*, email: str, password: str) -> TokenPair:
    user = authenticate(email=email.strip().lower(), password=password)
    if not isinstance(user, User):
        raise WrongCredentials
    return login_open(user=user)


@transaction.atomic
def login_open(*, user: User) -> TokenPair:
    now = clock.now()
    Login.objects.filter(user=user, refreshed_at__lt=now - RefreshToken.lifetime).delete()
    return _pair(Login.objects.create(user=user, session_hash=user.get_session_auth_hash()))


def tokens_refresh(*, refresh_token: str) -> TokenPair:
    """Spend the token and return the next pair. A second use ends the login: one of the two users is a thief."""
    token = _read(refresh_token)
    try:
        return _spend(token)
    except IntegrityError:
        _revoke(str(token["login"]))
        raise TokenSpent from None


@transaction.atomic
def _spend(token: RefreshToken) -> TokenPair:
    """Raises IntegrityError where the unique row of this token is already there, on every database alike."""
    login = login_find(token.get("login"))
    if login is None:
        raise TokenInvalid
    login.refreshed_at = clock.now()
    login.spent_tokens.filter(spent_at__lt=login.refreshed_at - RefreshToken.lifetime).delete()
    SpentToken.objects.create(login=login, jti=token["jti"])
    login.save(update_fields=["refreshed_at"])
    return _pair(login)


def login_close(*, refresh_token: str) -> None:
    """End the login that this token came from."""
    _revoke(str(_read(refresh_token).get("login")))


def sign_out_everywhere(*, user: User) -> None:
    """End all logins of programs and all browser sessions. API keys stay: they are revoked one by one."""
    user.signed_out_at = clock.now()
    user.save(update_fields=["signed_out_at"])


def _revoke(login_id: str) -> None:
    Login.objects.filter(pk=login_id, revoked_at=None).update(revoked_at=clock.now())


def _read(refresh_token: str) -> RefreshToken:
    try:
        return RefreshToken(refresh_token)  # type: ignore[arg-type]  # the library types str as Token
    except TokenError:
        raise TokenInvalid from None


def _pair(login: Login) -> TokenPair:
    access, refresh = AccessToken(), RefreshToken()
    for token in (access, refresh):
        token["login"] = str(login.pk)
    return TokenPair(str(access), str(refresh), int(AccessToken.lifetime.total_seconds()), login.user)
