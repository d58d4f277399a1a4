"""Sending bundles, and what became of them: for their owner."""

from collections.abc import Mapping
from typing import IO, Any
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from api.pagination import PAGE_PARAMETERS, Pagination
from api.v1.bench_parameters import CapParameters, tolerance_pct
from api.v1.bench_schemas import (
    CapSerializer,
    NodeReceiptSerializer,
    NodeSerializer,
    NodeUpsertSerializer,
    OwnSubmissionSerializer,
    ReceiptSerializer,
)
from api.views import ApiView
from bench import selectors, services
from bench.errors import NotFound
from bench.models import Submission


class BundleParser(BaseParser):
    """Hands the bytes on: a bundle is stored as it was sent, and ingest reads it itself."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        return stream.read()


class Submissions(ApiView):
    required_scope = "bench"
    query_parameters = PAGE_PARAMETERS
    pagination_class = Pagination
    parser_classes = [BundleParser]

    @property
    def throttle_scope(self) -> str:  # type: ignore[override]  # sending is counted apart from reading
        return "submissions" if self.request.method == "POST" else "calls"

    @extend_schema(
        responses=OwnSubmissionSerializer(many=True), operation_id="bench_submissions", summary="List your submissions"
    )
    def get(self, request: Request) -> Response:
        pages = Pagination()
        page = pages.paginate_queryset(selectors.submissions_of(self.account), request, view=self)
        return pages.get_paginated_response([_own(submission) for submission in page or ()])

    @extend_schema(
        request=OpenApiTypes.OBJECT,
        responses={200: ReceiptSerializer, 201: ReceiptSerializer},
        operation_id="bench_submit",
        summary="Send a bundle of measured runs",
    )
    def post(self, request: Request) -> Response:
        """Sending the same bundle again is safe: runs that are known are not stored twice."""
        raw = request.data if isinstance(request.data, bytes) else b""  # no body at all never reaches the parser
        result = services.submission_ingest(account=self.account, raw=raw)
        code = status.HTTP_201_CREATED if result.created else status.HTTP_200_OK
        return Response(_receipt(result, request), status=code)


class SubmissionDetail(ApiView):
    required_scope = "bench"

    @extend_schema(
        responses=OwnSubmissionSerializer, operation_id="bench_submission", summary="One of your submissions"
    )
    def get(self, request: Request, submission_id: UUID) -> Response:
        return Response(_own(_find(selectors.submissions_of(self.account), submission_id)))


class Withdraw(ApiView):
    required_scope = "bench"

    @extend_schema(
        request=None,
        responses=OwnSubmissionSerializer,
        operation_id="bench_submission_withdraw",
        summary="Withdraw a submission",
    )
    def post(self, request: Request, submission_id: UUID) -> Response:
        """Withdrawing hides the runs. Copies that others have made under CC BY 4.0 can't be recalled."""
        own = selectors.submissions_of(self.account)
        services.submission_withdraw(submission=_find(own, submission_id), by=self.account)
        return Response(_own(_find(own, submission_id)))


class Nodes(ApiView):
    required_scope = "bench"
    query_parameters = PAGE_PARAMETERS
    pagination_class = Pagination

    @extend_schema(responses=NodeSerializer(many=True), operation_id="bench_nodes", summary="List your machines")
    def get(self, request: Request) -> Response:
        pages = Pagination()
        page = pages.paginate_queryset(selectors.nodes_of(self.account), request, view=self)
        return pages.get_paginated_response(NodeSerializer(page, many=True).data)

    @extend_schema(
        request=NodeUpsertSerializer,
        responses={201: NodeReceiptSerializer},
        operation_id="bench_node_upsert",
        summary="Say what one of your machines is",
    )
    def post(self, request: Request) -> Response:
        checked = NodeUpsertSerializer(data=request.data)
        checked.is_valid(raise_exception=True)
        node = services.node_upsert(account=self.account, **checked.validated_data)
        return Response({"status": "ok", "node_hash": node.node_hash}, status=status.HTTP_201_CREATED)


class RecommendedCap(ApiView):
    required_scope = "bench"
    query_parameters = ("tolerance_pct",)

    @extend_schema(
        parameters=[CapParameters],
        responses=CapSerializer,
        operation_id="bench_recommended_cap",
        summary="The deepest measured power cap that costs little speed",
    )
    def get(self, request: Request, node_hash: str) -> Response:
        """From this machine's own sweeps, else from published ones of its GPU class; null where there are none."""
        node = selectors.nodes_of(self.account).filter(node_hash=node_hash).first()
        if node is None:
            raise NotFound("machine of yours")
        return Response(CapSerializer(selectors.recommended_cap(node, tolerance_pct(request))).data)


def _find(own: QuerySet[Submission], submission_id: UUID) -> Submission:
    found = own.filter(pk=submission_id).first()
    if found is None:
        raise NotFound("submission of yours")
    return found


def _own(submission: Submission) -> Any:
    return OwnSubmissionSerializer(selectors.submission_summary(submission)).data


def _receipt(result: services.IngestResult, request: Request) -> Any:
    first = result.runs[0].run
    new = [outcome for outcome in result.runs if outcome.status != "duplicate"]
    failed = [gate for outcome in new for gate in selectors.gates_failed(outcome.run)]
    held = any(outcome.status == "quarantined" for outcome in new)
    receipt = {
        "id": result.submission.pk,
        "status": ("quarantined" if held else "accepted") if result.created else "duplicate",
        "flags": sorted({gate["code"] for gate in failed}),
        "reasons": [gate["sentence"] for gate in failed],
        "url": request.build_absolute_uri(reverse("bench:run", args=[first.pk])),
        "runs": [{"index": outcome.index, "status": outcome.status} for outcome in result.runs],
    }
    return ReceiptSerializer(receipt).data
