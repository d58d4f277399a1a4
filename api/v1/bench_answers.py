"""Sends stored bytes: no serializer runs for a reader who asks what was asked before."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from pydantic_core import to_json
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from api.v1.bench_csv import CsvRenderer
from api.views import PublicView
from bench.selectors import answers
from bench.selectors.answers import Answer

JSON, CSV = "application/json", "text/csv; charset=utf-8"


class AnswerView(PublicView):
    """A read whose answer follows from its address and the board alone.

    An address is understood once for each board; asked again, the bytes are sent as they are.
    """

    answer_name: str

    def read(self, request: Request) -> HttpResponseBase:
        found = answers.remembered(self.answer_name, _address(request), lambda _: _whole(request, self.answer(request)))
        return send(request, found)

    def answer(self, request: Request) -> Answer:
        raise NotImplementedError


class TableView(AnswerView):
    """The same as JSON or as a table."""

    renderer_classes: Sequence[Any] = [JSONRenderer, CsvRenderer]

    def read(self, request: Request) -> HttpResponseBase:
        if request.accepted_renderer.format != "csv":
            return super().read(request)
        name = f"{self.answer_name}.csv"
        found = answers.remembered(name, _address(request), lambda _: Answer(self.table(request)))
        return send(request, found, CSV)

    def table(self, request: Request) -> bytes:
        raise NotImplementedError


def send(request: Request, answer: Answer, content_type: str = JSON) -> HttpResponseBase:
    """The answer with its ETag, or 304 for who has it already."""
    etag = answer.etag
    unchanged = get_conditional_response(request._request, etag=etag) if "If-None-Match" in request.headers else None
    response = unchanged or HttpResponse(answer.body, content_type=content_type)
    response.headers["ETag"] = etag
    response.headers["Cache-Control"] = "no-cache"  # kept, but asked for again
    return response


def _address(request: Request) -> str:
    """As the reader wrote it; its name for us is checked when the answer is first made."""
    meta = request.META
    return f"{request.scheme}://{meta.get('HTTP_HOST', '')}{request.path}?{meta.get('QUERY_STRING', '')}"


def _whole(request: Request, answer: Answer) -> Answer:
    """Links to other pages are absolute, so they depend on the name that the reader called us by."""
    if answer.page is None:
        return answer
    links = {name: _link(request, answer.page[name]) for name in ("next", "previous")}
    head = to_json({"count": answer.page["count"], **links})
    return Answer(head[:-1] + b"," + answer.body[1:])


def _link(request: Request, query: str | None) -> str | None:
    return request.build_absolute_uri(f"{request.path}?{query}") if query else None
