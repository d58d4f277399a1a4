"""Public reads of the corpus."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.http import HttpResponse, HttpResponseBase
from django.utils.decorators import method_decorator
from django.views.decorators.http import conditional_page
from drf_spectacular.utils import extend_schema
from pydantic_core import to_json
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from api.pagination import PAGE_PARAMETERS, PublicPagination
from api.v1 import bench_parameters as parameters
from api.v1.bench_answers import CSV, AnswerView, TableView
from api.v1.bench_csv import CsvRenderer, csv_table
from api.v1.bench_parameters import BoardParameters, SweepParameters, Window, WishParameters
from api.v1.bench_rows import ConfigSerializer, PicksSerializer, RoutingRowSerializer, SweepSerializer
from api.v1.bench_schemas import FacetsSerializer, LogEntrySerializer, RowSerializer, RunSerializer
from api.views import PublicView
from bench import selectors
from bench.errors import NotFound
from bench.selectors import answers
from bench.selectors.answers import Answer


def _fields(serializer: Any, *left_out: str) -> list[str]:
    return [str(name) for name in serializer().fields if name not in left_out]


ROW_COLUMNS = _fields(RowSerializer, "marks", "grades")
GRADES = ["capability_pct", *(f"{name}_stars" for name in selectors.STARS)]
BOARD_COLUMNS = [*ROW_COLUMNS, *(f"grades.{name}" for name in GRADES)]
COST_COLUMNS = [f"cost_model.{name}" for name in selectors.COST_FIELDS]
ROUTING_COLUMNS = [*_fields(RoutingRowSerializer, "cost_model"), *COST_COLUMNS]
SWEEP_COLUMNS = _fields(SweepSerializer, "points")
LOG_COLUMNS = _fields(LogEntrySerializer)
PICK_COLUMNS = [
    *ROW_COLUMNS,
    *("predicted_j", "predicted_j_low", "predicted_j_high", "predicted_s", "predicted_cost", "score"),
    *("extrapolated", "tied_with_best", "why"),
]


class Leaderboard(TableView):
    """Rows are one configuration on one task, measured, moderated, recomputed here."""

    answer_name = "leaderboard"
    query_parameters = parameters.BOARD_PARAMETERS
    pagination_class = PublicPagination

    @extend_schema(
        parameters=[BoardParameters, *parameters.PAGES],
        responses=RowSerializer(many=True),
        operation_id="bench_leaderboard",
        summary="Joules per correct answer, by configuration and task",
    )
    def get(self, request: Request) -> HttpResponseBase:
        return self.read(request)

    def answer(self, request: Request) -> Answer:
        return answers.leaderboard(parameters.board_query(request))

    def table(self, request: Request) -> bytes:
        return csv_table(selectors.board_rows(parameters.board_query(request)), BOARD_COLUMNS)


class RoutingTable(TableView):
    """For programs that send each query to the cheapest configuration that answers it."""

    answer_name = "routing-table"
    query_parameters = parameters.BOARD_PARAMETERS
    pagination_class = PublicPagination

    @extend_schema(
        parameters=[BoardParameters, *parameters.PAGES],
        responses=RoutingRowSerializer(many=True),
        operation_id="bench_routing_table",
        summary="Accuracy, speed and cost model of every row",
    )
    def get(self, request: Request) -> HttpResponseBase:
        return self.read(request)

    def answer(self, request: Request) -> Answer:
        return answers.routing_table(parameters.board_query(request))

    def table(self, request: Request) -> bytes:
        return csv_table(selectors.routing_rows(parameters.board_query(request)), ROUTING_COLUMNS)


class Recommend(TableView):
    """Energy is predicted J per correct answer at the shape, speed predicted seconds an answer, balanced both."""

    answer_name = "recommend"
    query_parameters = (*WishParameters().fields, "format")

    @extend_schema(
        parameters=[WishParameters],
        responses=PicksSerializer,
        operation_id="bench_recommend",
        summary="Which configuration to run, and why",
    )
    def get(self, request: Request) -> HttpResponseBase:
        return self.read(request)

    def answer(self, request: Request) -> Answer:
        return answers.recommend(parameters.wish(request))

    def table(self, request: Request) -> bytes:
        return csv_table(selectors.recommend(parameters.wish(request))["results"], PICK_COLUMNS)


class Config(AnswerView):
    answer_name = "config"

    @extend_schema(
        responses=ConfigSerializer, operation_id="bench_config", summary="One configuration over all its tasks"
    )
    def get(self, request: Request, config_key: str) -> HttpResponseBase:
        return self.read(request)

    def answer(self, request: Request) -> Answer:
        found = selectors.config_detail(self.kwargs["config_key"])
        if found is None:
            raise NotFound("configuration on the board")
        return Answer(to_json({**found, "data_version": selectors.data_version()}))


class Sweeps(TableView):
    """Rows that differ in a power cap or a clock lock alone, on one machine and task."""

    answer_name = "sweeps"
    query_parameters = parameters.SWEEP_PARAMETERS
    pagination_class = PublicPagination

    @extend_schema(
        parameters=[SweepParameters, *parameters.PAGES],
        responses=SweepSerializer(many=True),
        operation_id="bench_sweeps",
        summary="What a power cap or a clock lock does",
    )
    def get(self, request: Request) -> HttpResponseBase:
        return self.read(request)

    def answer(self, request: Request) -> Answer:
        return answers.sweeps(parameters.sweep_query(request))

    def table(self, request: Request) -> bytes:
        found = selectors.sweep_list(parameters.sweep_query(request))
        points = [_point(sweep, point) for sweep in found for point in sweep["points"]]
        return csv_table(points, [*SWEEP_COLUMNS, *(f"point.{name}" for name in selectors.POINT_FIELDS)])


class Facets(AnswerView):
    answer_name = "facets"

    @extend_schema(responses=FacetsSerializer, operation_id="bench_facets", summary="Values of the board's filters")
    def get(self, request: Request) -> HttpResponseBase:
        return self.read(request)

    def answer(self, request: Request) -> Answer:
        return answers.board_facets()


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

    query_parameters = (*PAGE_PARAMETERS, "format")
    pagination_class = PublicPagination
    renderer_classes = [JSONRenderer, CsvRenderer]

    @extend_schema(
        responses=LogEntrySerializer(many=True),
        operation_id="bench_moderation_log",
        summary="Every decision of the maintainers, newest first",
    )
    def get(self, request: Request) -> HttpResponseBase:
        window = Window(request)
        found = selectors.moderation_log(limit=window.limit, offset=window.offset)
        entries = LogEntrySerializer(found, many=True).data
        if request.accepted_renderer.format == "csv":
            return HttpResponse(csv_table(list(entries), LOG_COLUMNS), content_type=CSV)
        window.count = selectors.moderation_log_count()
        return window.get_paginated_response(entries, selectors.data_version())


def _point(sweep: dict[str, Any], point: dict[str, Any]) -> dict[str, Any]:
    return {**{name: sweep[name] for name in SWEEP_COLUMNS}, "point": point}
