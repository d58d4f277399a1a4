"""Run records and samples, as controllers report them."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from api.pagination import PAGE_PARAMETERS, Pagination
from api.v1.runs_schemas import RunOutSerializer, RunReceiptSerializer, SamplesReceiptSerializer
from api.views import ApiView
from scheduling import services
from scheduling.selectors.workflows import runs_of

RECORD = {
    "type": "object",
    "required": ["controller_id", "run_id", "ts"],
    "properties": {
        "controller_id": {"type": "string"},
        "run_id": {"type": "string"},
        "ts": {"type": "string", "format": "date-time"},
        "exit_status": {"type": "string", "enum": ["success", "error", "preempted", "failed"]},
        "energy_wh": {"type": "number", "nullable": True, "description": "null: not measured"},
    },
}
SAMPLES = {
    "type": "object",
    "required": ["samples"],
    "properties": {"samples": {"type": "array", "maxItems": services.SAMPLES_AT_MOST, "items": {"type": "object"}}},
}


class Runs(ApiView):
    required_scope = "schedule"
    query_parameters = PAGE_PARAMETERS
    pagination_class = Pagination

    @extend_schema(responses=RunOutSerializer(many=True), operation_id="runs_list", summary="List your runs")
    def get(self, request: Request) -> Response:
        pages = Pagination()
        page = pages.paginate_queryset(runs_of(self.account), request, view=self)
        return pages.get_paginated_response(RunOutSerializer(page, many=True).data)

    @extend_schema(
        request={"application/json": {"oneOf": [RECORD, {"type": "array", "items": RECORD}]}},
        responses=RunReceiptSerializer,
        operation_id="runs_report",
        summary="Report one run or a list of them",
    )
    def post(self, request: Request) -> Response:
        """Reporting a run again is safe. What can't be read besides its ids and time is null, with a warning."""
        taken = services.runs_ingest(account=self.account, body=request.data)
        receipt = {
            "accepted": sum(one.is_new for one in taken),
            "duplicates": sum(not one.is_new for one in taken),
            "runs": [_outcome(one) for one in taken],
        }
        return Response(receipt)


def _outcome(taken: services.Taken) -> dict[str, Any]:
    run = taken.run
    outcome = {
        "run_id": run.run_id,
        "controller_id": run.controller_id,
        "id": str(run.pk),
        "status": "inserted" if taken.is_new else "duplicate",
    }
    return {**outcome, "warnings": run.warnings} if run.warnings else outcome


class Samples(ApiView):
    required_scope = "schedule"

    @extend_schema(
        request={"application/json": SAMPLES},
        responses={201: SamplesReceiptSerializer},
        operation_id="runs_samples",
        summary="Append samples to a run",
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """A time that is stored is not stored twice; `accepted` counts what is new."""
        body = request.data if isinstance(request.data, dict) else {}
        accepted, warnings = services.samples_append(account=self.account, run_id=run_id, samples=body.get("samples"))
        receipt = {"accepted": accepted, **({"warnings": warnings} if warnings else {})}
        return Response(receipt, status=status.HTTP_201_CREATED)
