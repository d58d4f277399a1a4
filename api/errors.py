"""Every refusal is JSON of one shape: a sentence in `detail`, a stable `code`, and the places in `errors`."""

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views import defaults
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler as rest_exception_handler

from asyncenergy.errors import AsyncEnergyError

API_PATHS = ("/api/", "/auth/", "/health", "/openapi.json", "/mcp", "/bench-data.json")


def error_body(detail: str, code: str, errors: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {"detail": detail, "code": code, "errors": errors or []}


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the answer to an error that a view raised; None leaves it to `server_error`."""
    if isinstance(error, AsyncEnergyError):
        return Response(error_body(error.detail, error.code, error.errors), status=error.status_code)
    if isinstance(error, RequestDataTooBig):
        return Response(error_body("The body is too large.", "body_too_large"), status=413)
    response = rest_exception_handler(error, context)
    if response is not None:
        response.data = _body_of(error)
    return response


def _body_of(error: Exception) -> dict[str, Any]:
    if isinstance(error, exceptions.ValidationError):
        places = list(_places(error.detail))
        return error_body(_summary(places), "validation_error", places)
    if isinstance(error, exceptions.Throttled):
        wait_s: float | None = getattr(error, "wait", None)
        return error_body(f"Too many calls. Try again {f'in {wait_s:.0f} s' if wait_s else 'later'}.", "throttled")
    if isinstance(error, exceptions.APIException):
        return error_body(str(error.detail), _code_of(error.detail))
    return error_body("There is nothing here that you may see.", "not_found")  # Django's Http404


def _code_of(detail: Any) -> str:
    return str(getattr(detail, "code", "error"))


def _places(detail: Any, attr: str = "") -> Iterator[dict[str, Any]]:
    """Yield one place for each sentence in DRF's nested detail, with the dotted path to it."""
    if isinstance(detail, dict):
        for key, value in detail.items():
            inner = "" if key == "non_field_errors" else str(key)
            yield from _places(value, ".".join(part for part in (attr, inner) if part))
    elif isinstance(detail, list):
        for index, value in enumerate(detail):
            nested = isinstance(value, (dict, list))
            yield from _places(value, f"{attr}.{index}".lstrip(".") if nested else attr)
    else:
        yield {"attr": attr, "code": _code_of(detail), "detail": str(detail)}


def _summary(places: list[dict[str, Any]]) -> str:
    first = places[0]
    sentence = f"{first['attr']}: {first['detail']}" if first["attr"] else first["detail"]
    return sentence if len(places) == 1 else f"{sentence} ({len(places) - 1} more in errors)"


def is_for_programs(request: HttpRequest) -> bool:
    return request.path.startswith(API_PATHS)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not is_for_programs(request):
        return defaults.bad_request(request, exception)
    return JsonResponse(error_body("The request can't be read.", "bad_request"), status=400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not is_for_programs(request):
        return defaults.permission_denied(request, exception)
    return JsonResponse(error_body("You may not do this.", "permission_denied"), status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not is_for_programs(request):
        return defaults.page_not_found(request, exception)
    return JsonResponse(error_body(f"There is nothing at {request.path}.", "not_found"), status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    if not is_for_programs(request):
        return defaults.server_error(request)
    detail = "The server failed and has logged why. Nothing was half-stored; try again later."
    return JsonResponse(error_body(detail, "server_error"), status=500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "403_csrf.html", {"reason": reason}, status=403)
