"""One account's calls over HTTP: who we are, what is repeated, and how long we wait."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import stamina

from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.server.answers import decoded
from asyncenergy_controller.server.errors import NotLoggedIn, NotNow, ServerFailed, ServerUnreachable
from asyncenergy_controller.server.limits import CallLimits, bound_size
from asyncenergy_controller.server.login import Login, LoginFile
from asyncenergy_controller.settings import Settings
from asyncenergy_controller.tls import trusted_roots

FIRST_WAIT_S = 0.2
LONGEST_S = 45.0
"""After this a call is not repeated again."""
URGENT_ATTEMPTS = 3


class Connection:
    """One server, one account. Calls have a time limit; only those that may be repeated are repeated."""

    def __init__(self, settings: Settings, attempts: int) -> None:
        self._settings = settings
        self._attempts = attempts
        self._file = LoginFile(settings.config_dir)
        self._limits = CallLimits()
        self._http = _client(settings.api_url)

    def close(self) -> None:
        self._http.close()

    def login_by(self, path: str, email: str, password: str) -> Login:
        """Ask for tokens once, and keep them. Raises OSError where they can't be kept."""
        login = self._asked_login(path, email, password)
        self._file.write(login)
        return login

    def repeated(self, method: str, path: str, *, within_s: float | None = None, **body: Any) -> dict[str, Any]:
        """An idempotent call: repeated while the server can't be reached or says "not now". Raises ServerError.

        `within_s` is for callers that neither come again nor wait long: it is repeated, all in that time.
        """
        attempts, limit_s = (self._attempts, LONGEST_S) if within_s is None else (URGENT_ATTEMPTS, within_s)
        passing = (NotNow, ServerUnreachable)
        for attempt in stamina.retry_context(
            on=passing, attempts=attempts, timeout=limit_s, wait_initial=FIRST_WAIT_S, wait_jitter=0.1
        ):
            with attempt:
                return decoded(self._authorised(method, path, timeout_s=within_s, **body))
        raise AssertionError("the last attempt returns or raises")

    def _authorised(self, method: str, path: str, **body: Any) -> httpx2.Response:
        response = self._send(method, path, credentials=self._credentials(), **body)
        if response.status_code == httpx2.codes.UNAUTHORIZED and self._settings.api_key is None:
            self._refresh(response)
            response = self._send(method, path, credentials=self._credentials(), **body)
        return response

    def _asked_login(self, path: str, email: str, password: str) -> Login:
        return self._pair(self._send("POST", path, json={"email": email, "password": password}), email)

    def _pair(self, response: httpx2.Response, email: str) -> Login:
        answer = decoded(response)
        tokens = [answer.get("access_token"), answer.get("refresh_token")]
        if not all(isinstance(token, str) and token for token in tokens):
            raise ServerFailed(f"{self._settings.api_url} answered a login without tokens; is the address right?")
        return Login(self._settings.api_url, email, *map(str, tokens))

    def _credentials(self) -> dict[str, str]:
        """The API key, else the kept login, else a login with the e-mail and password of the settings."""
        settings = self._settings
        if settings.api_key:
            return {"X-API-Key": settings.api_key.get_secret_value()}
        login = self._file.read(settings.api_url)
        if login is None and settings.email and settings.password:
            login = self._asked_login("/auth/login", settings.email, settings.password.get_secret_value())
            self._file.keep(login)
        if login is None:
            raise NotLoggedIn(
                f"You are not logged in at {settings.api_url}. Use `async-energy-controller login`, or set "
                "ASYNCENERGY_API_KEY."
            )
        return {"Authorization": f"Bearer {login.access_token}"}

    def _refresh(self, refused: httpx2.Response) -> None:
        """Spend the refresh token, unless another thread or process has just done so and kept the new pair."""
        try:
            with self._file.held():
                login = self._file.read(self._settings.api_url)
                if login and refused.request.headers.get("Authorization") == f"Bearer {login.access_token}":
                    self._spend(login)
        except OSError as error:
            raise NotLoggedIn(f"The login in {self._file.path} has run out and can't be renewed ({error}).") from error

    def _spend(self, login: Login) -> None:
        response = self._send("POST", "/auth/refresh", json={"refresh_token": login.refresh_token})
        if response.status_code == httpx2.codes.UNAUTHORIZED:
            self._file.forget()
            return
        self._file.keep(self._pair(response, login.email))

    def _send(
        self,
        method: str,
        path: str,
        credentials: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
        timeout_s: float | None = None,
        **body: Any,
    ) -> httpx2.Response:
        kind = {"Content-Type": "application/json"} if "content" in body else {}
        sent = (credentials or {}) | (headers or {}) | kind
        limit_s = timeout_s or self._settings.server_timeout_s
        watched = {"trace": self._limits.note}
        with _mapped(self._settings.api_url, limit_s), self._limits.within(limit_s):
            return self._http.request(method, path, headers=sent, timeout=limit_s, extensions=watched, **body)


def _client(url: str) -> httpx2.Client:
    """Proxies of the environment hold."""
    try:
        return httpx2.Client(base_url=url, verify=trusted_roots(), event_hooks={"response": [bound_size]})
    except (ImportError, ValueError, httpx2.InvalidURL) as error:
        why = str(error).rstrip(".")
        raise UsageError(
            f"No connection to {url} can be set up: {why}. Is the address right (--api-url), and the proxy, if "
            "ALL_PROXY, HTTPS_PROXY or HTTP_PROXY names one?"
        ) from error


@contextmanager
def _mapped(url: str, timeout_s: float) -> Iterator[None]:
    try:
        yield
    except httpx2.TimeoutException as error:
        raise ServerUnreachable(f"{url} gave no answer within {timeout_s:g} s; try again later.") from error
    except httpx2.DecodingError as error:
        raise ServerFailed(f"{url} answered what can't be read ({error}); try again later.") from error
    except (httpx2.TransportError, httpx2.InvalidURL) as error:
        raise ServerUnreachable(f"{url} can't be reached ({error}). Is the address right (--api-url)?") from error
