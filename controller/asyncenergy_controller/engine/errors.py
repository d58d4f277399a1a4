"""What can go wrong between the controller and an inference engine; the one place that maps foreign exceptions."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

from asyncenergy_controller.errors import ControllerError, ExitCode

_NO_SUCH_MODEL = re.compile(
    r"\bmodel\b.*\b(?:not|no|unknown|invalid)\b|\b(?:no|unknown|invalid)\b.*\bmodel\b", re.IGNORECASE
)
_TOO_LONG = re.compile(r"context|token", re.IGNORECASE)


class EngineError(ControllerError):
    """Base of everything an engine does to us."""

    exit_code = ExitCode.NO_ENGINE


class EngineNotFound(EngineError):
    """No engine answered at any of the addresses tried."""


class EngineUnreachable(EngineError):
    """Nobody listens there, or the connection broke."""


class EngineTimeout(EngineError):
    """The engine did not finish within the time limit."""


class EngineRefused(EngineError):
    """The engine understood the request and said no (model, key, field)."""

    def __init__(self, message: str, *, status: int, reply: str) -> None:
        super().__init__(message)
        self.status = status
        self.reply = reply


class ModelRefused(EngineRefused):
    """The engine does not serve this model."""


class EngineFailed(EngineError):
    """The engine answered with a server error of its own."""


class EngineProtocolError(EngineError):
    """The answer is not what an OpenAI-compatible server sends, or ended half way."""


class StreamBroken(EngineProtocolError):
    """The stream ended before the answer did."""


@contextmanager
def translated(url: str, *, limit_s: float) -> Iterator[None]:
    """Turn whatever the HTTP library raises into an EngineError that names the address and the way out."""
    try:
        yield
    except httpx2.TimeoutException as error:
        raise EngineTimeout(
            f"The engine at {url} gave no answer within {limit_s:g} s. Raise the time limit or check its log."
        ) from error
    except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError) as error:
        raise StreamBroken(f"The engine at {url} closed the connection before its answer was complete.") from error
    except httpx2.TransportError as error:
        raise EngineUnreachable(
            f"No engine answers at {url} ({error}). Start it, or give its address with --engine-url."
        ) from error
    except httpx2.InvalidURL as error:
        raise EngineUnreachable(f"{url!r} is not an address; give one like http://127.0.0.1:8080.") from error


def refusal(status: int, reply: str, *, url: str, model: str | None = None) -> EngineError:
    """The exception for an answer outside 2xx, in the engine's own words."""
    said = f"HTTP {status} from {url}: {reply or 'no explanation'}"
    if status == 503:
        return EngineFailed(f"The engine is not ready or too busy: try again in a moment. {said}")
    if status >= 500:
        return EngineFailed(f"The engine failed. {said}")
    if status in (401, 403):
        return EngineRefused(f"The engine wants an API key. {said}", status=status, reply=reply)
    if model and status in (400, 404) and _NO_SUCH_MODEL.search(reply) and not _TOO_LONG.search(reply):
        return ModelRefused(f"The engine does not serve the model {model!r}. {said}", status=status, reply=reply)
    return EngineRefused(f"The engine refused the request. {said}", status=status, reply=reply)
