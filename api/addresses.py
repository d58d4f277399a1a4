"""What no address may hold, wherever it leads."""

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponseBase, JsonResponse

from api.errors import bad_request, error_body, is_for_programs

REFUSAL = "The address holds a NUL character (%00), which no name or value has. Leave it out."


def nul_refused(serve: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: PostgreSQL takes no NUL in a text, so every look-up by one would fail."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        query = request.META.get("QUERY_STRING", "")
        if "\0" not in request.path_info + query and "%00" not in query:
            return serve(request)
        if is_for_programs(request):
            return JsonResponse(error_body(REFUSAL, "nul_in_address"), status=400)
        return bad_request(request, BadRequest(REFUSAL))

    return answer
