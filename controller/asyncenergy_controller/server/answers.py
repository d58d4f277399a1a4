"""HTTP answers as our own results and errors."""

from typing import Any

import httpx2

from asyncenergy_controller.server.errors import NotLoggedIn, NotNow, RequestRefused, ServerFailed

PASSING_STATUS = (502, 503, 504)  # a proxy's words for "not now"


def decoded(response: httpx2.Response) -> dict[str, Any]:
    """The JSON object of a 2xx answer, an empty one for 204; any other answer is raised."""
    body = {} if response.status_code == httpx2.codes.NO_CONTENT else _object(response)
    if response.is_success and body is not None:
        return body
    detail = str(
        (body or {}).get("detail") or f"{response.request.url} answered {response.status_code} without a reason."
    )
    if response.status_code == httpx2.codes.UNAUTHORIZED:
        raise NotLoggedIn(detail)
    if response.is_client_error:
        raise RequestRefused(_with_places(detail, body), status=response.status_code, code=_code(body))
    raise (NotNow if response.status_code in PASSING_STATUS else ServerFailed)(detail)


def _object(response: httpx2.Response) -> dict[str, Any] | None:
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _code(body: dict[str, Any] | None) -> str | None:
    code = (body or {}).get("code")
    return code if isinstance(code, str) else None


def _with_places(detail: str, body: dict[str, Any] | None) -> str:
    """The server's sentence, exactly, and below it the places it names, where it doesn't say the same of them."""
    places = (body or {}).get("errors")
    named = [place for place in places if isinstance(place, dict)] if isinstance(places, list) else []
    news = [place for place in named if str(place.get("detail")) not in detail]
    return "\n".join([detail, *(f"  {place.get('attr')}: {place.get('detail')}" for place in news)])
