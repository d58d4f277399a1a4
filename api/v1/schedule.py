"""The schedule as controllers read it, what they say of it, its proof, and advice."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api.v1.schedule_schemas import (
    AckReceiptSerializer,
    AckSerializer,
    AdviceSerializer,
    AdviseSerializer,
    CertificateSerializer,
    PlacementSerializer,
    ScheduleSerializer,
)
from api.views import ApiView
from asyncenergy import clock
from scheduling import services
from scheduling.errors import NotFound
from scheduling.models import Placement, ScheduleVersion
from scheduling.selectors import schedule as selectors

FALLBACK_POLICY = "deadline_latest_start"


class Schedule(ApiView):
    required_scope = "schedule"
    query_parameters = ("after", "controller_id")

    @extend_schema(
        parameters=[
            OpenApiParameter("after", OpenApiTypes.INT, description="the version you have; -1 for none"),
            OpenApiParameter("controller_id", str, description="only what this box may run"),
            OpenApiParameter("X-Controller-Id", str, OpenApiParameter.HEADER, description="the same as a header"),
        ],
        responses={200: ScheduleSerializer, 204: None},
        operation_id="schedule",
        summary="The newest schedule, if it is newer than yours",
    )
    def get(self, request: Request) -> Response:
        """What has ended is in no answer; a start that did not move is the same string in every version."""
        now = clock.now()
        after = _after(request)
        box = request.query_params.get("controller_id") or request.headers.get("X-Controller-Id") or None
        version = selectors.schedule_since(self.account, after)
        if box is not None:
            given = version.number if version else after if after > 0 else None
            services.controller_contact(account=self.account, controller_id=box[:120], version=given, now=now)
        if version is None:
            return Response(status=status.HTTP_204_NO_CONTENT)
        placements = selectors.placements_of(version, now=now, controller_id=box)
        return Response(ScheduleSerializer(_schedule(version, list(placements))).data)


def _after(request: Request) -> int:
    text = request.query_params.get("after", "-1")
    if not text.removeprefix("-").isdigit() or not text.isascii() or len(text) > 10:
        raise ValidationError({"after": [f"{text[:40]!r} is no version; write -1 for none."]}, code="invalid_parameter")
    return min(int(text), 2**31 - 1)


def _schedule(version: ScheduleVersion, placements: list[Placement]) -> dict[str, Any]:
    same = ("id", "valid_until", "degraded", "price_coverage", "currency", "cost", "lower_bound", "created_at")
    return {
        **{name: getattr(version, name) for name in same},
        "version": version.number,
        "placements": [_placement(placement) for placement in placements],
        "forecast_snapshot": selectors.prices_of(version),
        "fallback_policy": FALLBACK_POLICY,
    }


def _placement(placement: Placement) -> dict[str, Any]:
    names = [name for name in PlacementSerializer().get_fields() if name != "pieces"]
    return {**{name: getattr(placement, name) for name in names}, "pieces": selectors.pieces_of(placement)}


class Ack(ApiView):
    required_scope = "schedule"

    @extend_schema(
        request=AckSerializer,
        responses=AckReceiptSerializer,
        operation_id="schedule_ack",
        summary="Say that a run started, finished or failed",
    )
    def post(self, request: Request) -> Response:
        """Saying it again changes nothing. What failed is planned again, at once where that takes under 3 s."""
        checked = AckSerializer(data=request.data)
        checked.is_valid(raise_exception=True)
        said = services.Said(**checked.validated_data)
        ack = services.schedule_ack(account=self.account, said=said)
        receipt = {
            "status": "ok",
            "event": ack.event,
            "schedule_version": ack.schedule_version,
            "workflow_id": said.workflow_id,
            "replanned": ack.replanned,
        }
        return Response(AckReceiptSerializer(receipt).data)


class Certificate(ApiView):
    required_scope = "schedule"

    @extend_schema(
        responses=CertificateSerializer,
        operation_id="schedule_certificate",
        summary="The proof of a version, to be checked by anybody",
    )
    def get(self, request: Request, number: int) -> Response:
        certificate = selectors.certificate_of(self.account, number)
        if certificate is None:
            raise NotFound("schedule version")
        return Response(certificate)


class Advise(ApiView):
    required_scope = "schedule"

    @extend_schema(
        request=AdviseSerializer,
        responses=AdviceSerializer,
        operation_id="advise",
        summary="When a job would cost least, without registering it",
    )
    def post(self, request: Request) -> Response:
        """Nothing is stored. A job that doesn't fit is a 200 with the reason."""
        checked = AdviseSerializer(data=request.data)
        checked.is_valid(raise_exception=True)
        asked = {name: value for name, value in checked.validated_data.items() if value is not None}
        asked.pop("framework", None)
        return Response(AdviceSerializer(services.advise(account=self.account, **asked)).data)
