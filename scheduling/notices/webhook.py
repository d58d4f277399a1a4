"""Calls a webhook: https on port 443, at the very address that was looked at, without following anything."""

import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from threading import Timer
from urllib.parse import SplitResult, quote, urlsplit

from scheduling.errors import FieldRefused, NoticeFailed
from scheduling.notices.addresses import is_public

PORT = 443
LIMIT_S = 10.0
LONGEST_URL = 500
KEPT = "/%?:@!$&'()*+,;=~"  # of a path and its query; anything else is written in percent


@dataclass(frozen=True, slots=True)
class Target:
    """Where a webhook is: its host as certificates name it, and the path with its query."""

    host: str
    path: str


def target_of(url: str) -> Target:
    """Read an address. Raises FieldRefused for anything but https on port 443 without a name and password in it."""
    try:
        parts, port = urlsplit(url), urlsplit(url).port
        host = (parts.hostname or "").encode("idna").decode("ascii")
    except ValueError:  # a port or a bracket that can't be read, or a host that is no name
        parts, port, host = SplitResult("", "", "", "", ""), None, ""
    readable = url.isprintable() and " " not in url and len(url) <= LONGEST_URL
    if not readable or parts.scheme != "https" or not host or port not in (None, PORT) or "@" in parts.netloc:
        words = f"{url[:60]!r} can't be called. Write an address such as https://example.org/hook, without a port."
        raise FieldRefused("webhook_url", "not_https", words)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(host, quote(path, safe=KEPT))


def resolved(host: str) -> str:
    """Look a name up once. Raises NoticeFailed unless every address that it has is public."""
    try:
        found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, PORT, type=socket.SOCK_STREAM)]
    except OSError as error:
        raise NoticeFailed(f"{host} has no address: {error.strerror or error}.") from error
    inside = [address for address in found if not is_public(address)]
    if inside or not found:
        raise NoticeFailed(f"{host} is at {', '.join(inside) or 'no address'}, which is not on the public internet.")
    return found[0]


class _Pinned(HTTPConnection):
    """A connection to one address that asks for, and is answered by, the host of the webhook.

    From the greeting on, all of it has one time limit: a receiver may send drop by drop.
    """

    default_port = PORT

    def __init__(self, host: str, address: str) -> None:
        super().__init__(host, PORT, timeout=LIMIT_S)
        self._address = address
        self._cut: Timer | None = None

    def connect(self) -> None:
        plain = socket.create_connection((self._address, PORT), LIMIT_S)
        context = ssl.create_default_context()
        secure = context.wrap_socket(plain, server_hostname=self.host, do_handshake_on_connect=False)
        self.sock = secure
        self._cut = Timer(LIMIT_S, _end, [secure])
        self._cut.start()
        secure.do_handshake()

    def close(self) -> None:
        if self._cut is not None:
            self._cut.cancel()
        super().close()


def _end(secure: ssl.SSLSocket) -> None:
    """Wake whoever reads; TLS itself is left alone, since another thread is in the middle of it."""
    with suppress(OSError):
        socket.socket.shutdown(secure, socket.SHUT_RDWR)


def call(url: str, body: bytes, headers: dict[str, str]) -> None:
    """Post a body; any 2xx is success. Raises NoticeFailed with the reason, within about twice the time limit."""
    target = target_of(url)
    connection = _Pinned(target.host, resolved(target.host))
    try:
        connection.request("POST", target.path, body, headers)
        status = connection.getresponse().status
    except (OSError, HTTPException) as error:
        raise NoticeFailed(f"{target.host} gave no answer: {error or type(error).__name__}.") from error
    finally:
        connection.close()
    if not 200 <= status < 300:
        more = " and is not followed" if 300 <= status < 400 else ""
        raise NoticeFailed(f"{target.host} answered with status {status}{more}.")
