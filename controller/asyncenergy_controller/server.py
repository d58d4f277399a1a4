"""Client of the Async Energy server. The one place where HTTP becomes our own results and errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import httpx2
import stamina

from asyncenergy_controller.bench.files import PRIVATE_FILE, read_json, write_json
from asyncenergy_controller.errors import ControllerError, ExitCode
from asyncenergy_controller.settings import Settings

ATTEMPTS = 3
FIRST_WAIT_S = 0.2
PASSING_STATUS = (502, 503, 504)  # a proxy's words for "not now"


class ServerError(ControllerError):
    """The server didn't do what was asked; the message is its own sentence where it gave one."""

    exit_code = ExitCode.SERVER


class ServerUnreachable(ServerError):
    """Nobody answered in time; asking again later may help."""


class ServerFailed(ServerError):
    """An answer of 5xx; asking again later may help."""


class NotLoggedIn(ServerError):
    """No key and no login, or the server accepts neither."""


class RequestRefused(ServerError):
    """An answer of 4xx: sending the same again would be refused again."""

    def __init__(self, detail: str, *, status: int, code: str | None) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code


@dataclass(frozen=True)
class Login:
    """The pair of tokens of one account at one server."""

    api_url: str
    email: str
    access_token: str
    refresh_token: str


class LoginFile:
    """Where a login is kept between commands: readable by its owner alone."""

    def __init__(self, config_dir: Path) -> None:
        self.path = config_dir / "login.json"

    def read(self, api_url: str) -> Login | None:
        """The login at this server, None where there is none."""
        if not self.path.exists():
            return None
        login = Login(**read_json(self.path))
        return login if login.api_url == api_url else None

    def write(self, login: Login) -> None:
        write_json(self.path, asdict(login), mode=PRIVATE_FILE)

    def forget(self) -> bool:
        """True where there was a login to forget."""
        existed = self.path.exists()
        self.path.unlink(missing_ok=True)
        return existed


class ServerClient:
    """One server, one account. Calls have a time limit; only those that may be repeated are repeated."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._file = LoginFile(settings.config_dir)
        self._http = httpx2.Client(base_url=settings.api_url, timeout=settings.server_timeout_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def signup(self, email: str, password: str) -> Login:
        """Make an account and log in. Raises RequestRefused (`email_taken`)."""
        return self._login_by("/auth/signup", email, password)

    def login(self, email: str, password: str) -> Login:
        """Log in and keep the tokens. Raises NotLoggedIn for a wrong password."""
        return self._login_by("/auth/login", email, password)

    def submit_bundle(self, raw: bytes) -> dict[str, Any]:
        """Send a bundle; the server knows a run it has, so sending it twice stores it once.

        Returns the server's answer: `id`, `status` (accepted, quarantined, duplicate), `flags`, `url`, `runs`.
        """
        return self._repeated("POST", "/api/v1/bench/submissions", content=raw)

    def _login_by(self, path: str, email: str, password: str) -> Login:
        answer = _decoded(self._send("POST", path, json={"email": email, "password": password}))
        return self._keep(answer, email)

    def _keep(self, answer: dict[str, Any], email: str) -> Login:
        login = Login(self._settings.api_url, email, answer["access_token"], answer["refresh_token"])
        self._file.write(login)
        return login

    def _repeated(self, method: str, path: str, **body: Any) -> dict[str, Any]:
        """An idempotent call: repeated while the server can't be reached or says "not now"."""
        passing = (_NotNow, ServerUnreachable)
        for attempt in stamina.retry_context(on=passing, attempts=ATTEMPTS, wait_initial=FIRST_WAIT_S, wait_jitter=0.1):
            with attempt:
                return _decoded(self._authorised(method, path, **body))
        raise AssertionError("the last attempt returns or raises")

    def _authorised(self, method: str, path: str, **body: Any) -> httpx2.Response:
        response = self._send(method, path, headers=self._credentials(), **body)
        if response.status_code == httpx2.codes.UNAUTHORIZED and self._settings.api_key is None:
            self._refresh(response)
            response = self._send(method, path, headers=self._credentials(), **body)
        return response

    def _credentials(self) -> dict[str, str]:
        """The API key, else the kept login, else a login with the e-mail and password of the settings."""
        settings = self._settings
        if settings.api_key:
            return {"X-API-Key": settings.api_key.get_secret_value()}
        login = self._file.read(settings.api_url)
        if login is None and settings.email and settings.password:
            login = self.login(settings.email, settings.password.get_secret_value())
        if login is None:
            raise NotLoggedIn(
                f"You are not logged in at {settings.api_url}. Use `async-energy-controller login`, or set "
                "ASYNCENERGY_API_KEY."
            )
        return {"Authorization": f"Bearer {login.access_token}"}

    def _refresh(self, refused: httpx2.Response) -> None:
        """Spend the refresh token, unless another process has just done so and kept the new pair."""
        login = self._file.read(self._settings.api_url)
        if login is None:
            return
        if refused.request.headers.get("Authorization") != f"Bearer {login.access_token}":
            return
        response = self._send("POST", "/auth/refresh", json={"refresh_token": login.refresh_token})
        if response.status_code == httpx2.codes.UNAUTHORIZED:
            self._file.forget()
            return
        self._keep(_decoded(response), login.email)

    def _send(self, method: str, path: str, headers: dict[str, str] | None = None, **body: Any) -> httpx2.Response:
        kind = {"Content-Type": "application/json"} if "content" in body else {}
        with _mapped(self._settings):
            return self._http.request(method, path, headers=(headers or {}) | kind, **body)


class _NotNow(ServerFailed):
    """A status that means the server is there but can't answer just now."""


@contextmanager
def _mapped(settings: Settings) -> Iterator[None]:
    url = settings.api_url
    try:
        yield
    except httpx2.TimeoutException as error:
        raise ServerUnreachable(
            f"{url} gave no answer within {settings.server_timeout_s:g} s; try again later."
        ) from error
    except (httpx2.TransportError, httpx2.InvalidURL) as error:
        raise ServerUnreachable(f"{url} can't be reached ({error}). Is the address right (--api-url)?") from error


def _decoded(response: httpx2.Response) -> dict[str, Any]:
    """The JSON object of a 2xx answer; any other answer is raised."""
    body = _object(response)
    if response.is_success and body is not None:
        return body
    detail = str(
        (body or {}).get("detail") or f"{response.request.url} answered {response.status_code} without a reason."
    )
    if response.status_code == httpx2.codes.UNAUTHORIZED:
        raise NotLoggedIn(detail)
    if response.is_client_error:
        raise RequestRefused(_with_places(detail, body), status=response.status_code, code=(body or {}).get("code"))
    raise (_NotNow if response.status_code in PASSING_STATUS else ServerFailed)(detail)


def _object(response: httpx2.Response) -> dict[str, Any] | None:
    try:
        body = response.json()
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _with_places(detail: str, body: dict[str, Any] | None) -> str:
    """The server's sentence, exactly, and below it the places it names."""
    places = (body or {}).get("errors") or []
    lines = [f"  {place.get('attr')}: {place.get('detail')}" for place in places if isinstance(place, dict)]
    return "\n".join([detail, *lines])
