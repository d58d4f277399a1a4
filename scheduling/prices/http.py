"""The one place that asks other people's servers: with time limits, a few retries, and errors of our own."""

from typing import Any

import httpx2
import stamina
from asyncenergy_controller.tls import trusted_roots

from scheduling.errors import PriceFeedError

TIMEOUT = httpx2.Timeout(20.0, connect=5.0)
ATTEMPTS = 3
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 5.0
TOTAL_S = 60.0
LARGEST_BYTES = 16 * 2**20
PASSING_STATUS = (408, 429, 500, 502, 503, 504)


class _Passing(Exception):
    """An answer that another attempt may better."""


def client() -> httpx2.Client:
    headers = {"User-Agent": "async-energy (price feed)"}
    return httpx2.Client(timeout=TIMEOUT, follow_redirects=True, headers=headers, verify=trusted_roots())


def get(http: httpx2.Client, url: str, params: dict[str, Any]) -> bytes:
    """Return the body of a 200. Raises PriceFeedError, permanent where asking again would not help."""
    try:
        for attempt in stamina.retry_context(
            on=(_Passing, httpx2.TransportError),
            attempts=ATTEMPTS,
            timeout=TOTAL_S,
            wait_initial=FIRST_WAIT_S,
            wait_max=LONGEST_WAIT_S,
            wait_jitter=FIRST_WAIT_S,
        ):
            with attempt:
                return _once(http, url, params)
    except (_Passing, httpx2.TransportError) as error:
        raise PriceFeedError(f"{httpx2.URL(url).host} gave no answer: {error or type(error).__name__}.") from error
    except httpx2.HTTPError as error:
        raise PriceFeedError(f"{httpx2.URL(url).host} can't be asked: {error}.", permanent=True) from error
    raise AssertionError("a retry ends by an answer or by an error")


def _once(http: httpx2.Client, url: str, params: dict[str, Any]) -> bytes:
    answer = http.get(url, params=params)
    if answer.status_code in PASSING_STATUS:
        raise _Passing(f"status {answer.status_code}")
    if answer.status_code != httpx2.codes.OK:
        raise PriceFeedError(f"{answer.url.host} refuses with status {answer.status_code}.", permanent=True)
    if len(answer.content) > LARGEST_BYTES:
        raise PriceFeedError(f"{answer.url.host} sends {len(answer.content) / 2**20:.0f} MiB, too much for prices.")
    return answer.content
