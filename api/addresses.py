"""What no address and no cookie may hold, wherever it leads."""

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponseBase, JsonResponse

from api.errors import bad_request, error_body, is_for_programs

REFUSAL = "The address or a cookie holds a NUL character (%00), which no name or value has. Leave it out."


def nul_refused(serve: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: PostgreSQL takes no NUL in a text, so every look-up by one would fail."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if not _holds_nul(request):
            return serve(request)
        if is_for_programs(request):
            return JsonResponse(error_body(REFUSAL, "nul_in_request"), status=400)
        return bad_request(request, BadRequest(REFUSAL))

    return answer


def _holds_nul(request: HttpRequest) -> bool:
    query = request.META.get("QUERY_STRING", "")
    return "%00" in query or "\0" in "".join((request.path_info, query, *request.COOKIES.values()))
