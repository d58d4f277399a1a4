"""One question to a plug, with a time limit, and its failures in our words."""

import logging
from typing import Any

import httpx2

from asyncenergy_controller.engine.transport import TimeLimitedTransport
from asyncenergy_controller.errors import MeterError
from asyncenergy_controller.meters.plugs.base import LIMIT_S

# Its request lines hold the whole address, and Tasmota takes its password there only.
logging.getLogger("httpx2").setLevel(logging.WARNING)

_MEANING = {401: "it wants a password or token", 403: "the password or token is refused", 404: "it knows no such path"}


class PlugHttp:
    """JSON answers of one plug."""

    def __init__(
        self,
        address: str,
        *,
        headers: dict[str, str] | None = None,
        auth: httpx2.Auth | None = None,
        limit_s: float = LIMIT_S,
    ) -> None:
        self.url = (address if "://" in address else f"http://{address}").rstrip("/")
        transport = TimeLimitedTransport(limit_s=limit_s)
        self._client = httpx2.Client(
            transport=transport, timeout=limit_s, headers=headers, auth=auth, trust_env=False, follow_redirects=False
        )

    def get_json(self, path: str, **params: str | int) -> tuple[Any, dict[str, str]]:
        """Return the answer's JSON and headers. Raises MeterError; no message repeats a password."""
        return self._json("GET", path, params=params)

    def post_json(self, path: str, **body: str) -> Any:
        """Return the answer's JSON. Raises MeterError; no message repeats a password."""
        return self._json("POST", path, json=body)[0]

    def _json(self, method: str, path: str, **content: Any) -> tuple[Any, dict[str, str]]:
        try:
            response = self._client.request(method, f"{self.url}{path}", **content)
            response.raise_for_status()
            return response.json(), dict(response.headers)
        except httpx2.HTTPStatusError as error:
            status = error.response.status_code
            raise MeterError(f"the plug at {self.url} answered {status}: {_MEANING.get(status, path)}") from error
        except httpx2.TimeoutException as error:
            raise MeterError(f"the plug at {self.url} did not answer in time") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise MeterError(f"the plug at {self.url} cannot be reached: {type(error).__name__}") from error
        except ValueError as error:
            raise MeterError(f"the plug at {self.url} answered no JSON: is it a plug of this kind?") from error

    def close(self) -> None:
        self._client.close()


def at(answer: Any, *path: str) -> Any:
    """Return what lies at `path` of a JSON answer, None where something is missing on the way."""
    for key in path:
        answer = answer.get(key) if isinstance(answer, dict) else None
    return answer
