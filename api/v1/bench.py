"""Public reads of the corpus."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.decorators import method_decorator
from django.views.decorators.http import conditional_page
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from api.pagination import PAGE_PARAMETERS, PublicPagination
from api.v1.bench_csv import BoardCsvRenderer
from api.v1.bench_schemas import FacetsSerializer, LogEntrySerializer, RowSerializer, RunSerializer
from api.views import PublicView
from bench import selectors
from bench.errors import NotFound

FILTERS = ("gpu_class", "task", "quant", "model", "engine", "tier")
BOARD_PARAMETERS = (*FILTERS, "min_accuracy", "sort", *PAGE_PARAMETERS, "format")


class Window(PublicPagination):
    """A page whose rows a selector cuts out itself."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.limit: int = self.get_limit(request)
        self.offset: int = self.get_offset(request)

    def answer(self, rows: Any, count: int) -> Response:
        self.count = count
        return self.get_paginated_response(rows, selectors.data_version())


class BoardParameters(serializers.Serializer[dict[str, Any]]):
    """The query string of the leaderboard. Unknown values of a filter give an empty answer."""

    gpu_class = serializers.CharField(required=False, allow_blank=True, max_length=120)
    task = serializers.CharField(required=False, allow_blank=True, max_length=64)
    quant = serializers.CharField(required=False, allow_blank=True, max_length=120)
    model = serializers.CharField(required=False, allow_blank=True, max_length=120)
    engine = serializers.CharField(required=False, allow_blank=True, max_length=120)
    tier = serializers.CharField(required=False, allow_blank=True, max_length=8, help_text="one or several: A,B")
    min_accuracy = serializers.FloatField(required=False, min_value=0, max_value=1)
    sort = serializers.CharField(
        required=False,
        default=selectors.DEFAULT_SORT,
        help_text=f"one of {', '.join(selectors.SORTS)}; with - in front, descending. Null is last either way.",
    )

    def validate_sort(self, value: str) -> str:
        if value.removeprefix("-") not in selectors.SORTS:
            raise ValidationError(f"{value[:40]!r} is no sort. Sorts are {', '.join(selectors.SORTS)}.", "unknown_sort")
        return value


def _query(request: Request, window: Window) -> selectors.BoardQuery:
    checked = BoardParameters(data=request.query_params)
    checked.is_valid(raise_exception=True)
    asked: Mapping[str, Any] = checked.validated_data
    tiers = "".join(letter for letter in asked.get("tier", "") if letter.isalnum())
    named = {name: asked.get(name) or None for name in FILTERS if name != "tier"}
    return selectors.BoardQuery(
        **named,
        tier=tiers or None,
        min_accuracy=asked.get("min_accuracy"),
        sort=asked["sort"],
        limit=window.limit,
        offset=window.offset,
    )


@method_decorator(conditional_page, name="dispatch")
class Leaderboard(PublicView):
    """Rows are one configuration on one task, measured, moderated, recomputed here."""

    query_parameters = BOARD_PARAMETERS
    renderer_classes = [JSONRenderer, BoardCsvRenderer]
    pagination_class = PublicPagination

    @extend_schema(
        parameters=[
            BoardParameters,
            OpenApiParameter("limit", OpenApiTypes.INT, description="rows a page, at most 500"),
            OpenApiParameter("offset", OpenApiTypes.INT, description="rows to pass over"),
        ],
        responses=RowSerializer(many=True),
        operation_id="bench_leaderboard",
        summary="Joules per correct answer, by configuration and task",
    )
    def get(self, request: Request) -> Response:
        window = Window(request)
        query = _query(request, window)
        response = window.answer(selectors.board_rows(query), selectors.board_count(query))
        if settings.DEMO:  # a section of its own, on a demonstration server only
            response.data["simulated"] = selectors.simulated_rows(query)
        return response


@method_decorator(conditional_page, name="dispatch")
class Facets(PublicView):
    @extend_schema(responses=FacetsSerializer, operation_id="bench_facets", summary="Values of the board's filters")
    def get(self, request: Request) -> Response:
        return Response({**selectors.board_facets(), "data_version": selectors.data_version()})


@method_decorator(conditional_page, name="dispatch")
class Run(PublicView):
    @extend_schema(responses=RunSerializer, operation_id="bench_run", summary="One run with its items and trace")
    def get(self, request: Request, run_id: UUID) -> Response:
        detail = selectors.run_detail(run_id)
        if detail is None:
            raise NotFound("published run")
        return Response(RunSerializer(asdict(detail)).data)


@method_decorator(conditional_page, name="dispatch")
class ModerationLog(PublicView):
    """What was decided, when and why; never who submitted."""

    query_parameters = PAGE_PARAMETERS
    pagination_class = PublicPagination

    @extend_schema(
        responses=LogEntrySerializer(many=True),
        operation_id="bench_moderation_log",
        summary="Every decision of the maintainers, newest first",
    )
    def get(self, request: Request) -> Response:
        window = Window(request)
        entries = selectors.moderation_log(limit=window.limit, offset=window.offset)
        return window.answer(LogEntrySerializer(entries, many=True).data, selectors.moderation_log_count())
