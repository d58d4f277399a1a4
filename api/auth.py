"""Who is calling, and with which rights: an access token, or an API key with a scope."""

from typing import TYPE_CHECKING

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework_simplejwt.exceptions import TokenError
from rest_framework_simplejwt.tokens import AccessToken

from accounts.models import ApiKey, Login, User
from accounts.selectors import api_key_find, login_find
from accounts.services import api_key_stamp

if TYPE_CHECKING:
    from rest_framework.views import APIView  # it imports this module by name


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer <access token>`; the token dies with its login."""

    def authenticate(self, request: Request) -> tuple[User, Login] | None:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer":
            return None
        login = _login_of(token.strip())
        if login is None:
            raise AuthenticationFailed("The access token is unreadable, expired or revoked.", "token_invalid")
        return login.user, login

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="Async Energy"'


def _login_of(token: str) -> Login | None:
    try:
        return login_find(AccessToken(token).get("login"))  # type: ignore[arg-type]  # the library types str as Token
    except TokenError:
        return None


class ApiKeyAuthentication(BaseAuthentication):
    """`X-API-Key: ae_…`; a wrong and an unknown key get the same answer."""

    def authenticate(self, request: Request) -> tuple[User, ApiKey] | None:
        secret = request.headers.get("X-API-Key")
        if secret is None:
            return None
        key = api_key_find(secret)
        if key is None:
            raise AuthenticationFailed("The API key is unknown, expired or revoked.", "api_key_invalid")
        api_key_stamp(key=key)
        return key.user, key

    def authenticate_header(self, request: Request) -> str:
        return 'ApiKey realm="Async Energy"'


class HasScope(BasePermission):
    """Lets in an account; one that comes with an API key needs the view's `required_scope` on it.

    A view without `required_scope` is about the account itself, and no key opens it: a stolen key can't mint more.
    """

    def has_permission(self, request: Request, view: "APIView") -> bool:
        if not request.user.is_authenticated:
            return False
        scope = getattr(view, "required_scope", None)
        if isinstance(request.auth, ApiKey) and request.auth.scope not in _opening(scope):
            raise PermissionDenied(_refusal(request.auth.scope, scope), "scope_missing")
        return True


def _opening(scope: str | None) -> tuple[str, ...]:
    return (scope, ApiKey.Scope.ALL) if scope else ()


def _refusal(held: str, scope: str | None) -> str:
    if scope is None:
        return "No API key opens this. Log in, and send the access token."
    return f"This API key has the scope {held}, and this call needs {scope}. Use a key with the scope {scope} or all."
