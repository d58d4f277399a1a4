"""Workflows of an account: registered, listed, changed, skipped, run at once."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api.pagination import PAGE_PARAMETERS, Pagination
from api.v1.workflows_schemas import WorkflowChangeSerializer, WorkflowInSerializer, WorkflowSerializer
from api.views import ApiView
from asyncenergy import clock
from scheduling import services
from scheduling.models import Workflow
from scheduling.selectors.workflows import next_windows, workflows_of

KEY_LENGTH = 200
KEY_HELP = "of your choice: sending the same again makes no second workflow"


class Workflows(ApiView):
    required_scope = "schedule"
    query_parameters = PAGE_PARAMETERS
    pagination_class = Pagination

    @extend_schema(responses=WorkflowSerializer(many=True), operation_id="workflows", summary="List your workflows")
    def get(self, request: Request) -> Response:
        pages = Pagination()
        page = pages.paginate_queryset(workflows_of(self.account), request, view=self)
        return pages.get_paginated_response(_bodies(page or ()))

    @extend_schema(
        parameters=[OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, description=KEY_HELP)],
        request=WorkflowInSerializer,
        responses={201: WorkflowSerializer},
        operation_id="workflow_create",
        summary="Register deferrable work",
    )
    def post(self, request: Request) -> Response:
        checked = WorkflowInSerializer(data=request.data)
        checked.is_valid(raise_exception=True)
        workflow = services.workflow_create(
            account=self.account, idempotency_key=_idempotency_key(request), **checked.validated_data
        )
        return Response(_body(workflow), status=status.HTTP_201_CREATED)


def _idempotency_key(request: Request) -> str | None:
    key: str | None = request.headers.get("Idempotency-Key")
    if key is not None and not 0 < len(key) <= KEY_LENGTH:
        raise ValidationError({"Idempotency-Key": [f"A key has 1 to {KEY_LENGTH} characters."]}, code="invalid_key")
    return key


class WorkflowDetail(ApiView):
    required_scope = "schedule"

    @extend_schema(responses=WorkflowSerializer, operation_id="workflow", summary="One of your workflows")
    def get(self, request: Request, workflow_id: UUID) -> Response:
        return Response(_body(services.workflow_find(account=self.account, workflow_id=workflow_id)))

    @extend_schema(
        request=WorkflowChangeSerializer,
        responses=WorkflowSerializer,
        operation_id="workflow_change",
        summary="Change a workflow",
    )
    def patch(self, request: Request, workflow_id: UUID) -> Response:
        """Only what is given changes. What runs now goes on as it was."""
        workflow = services.workflow_find(account=self.account, workflow_id=workflow_id)
        checked = WorkflowChangeSerializer(data=request.data, partial=True)
        checked.is_valid(raise_exception=True)
        return Response(_body(services.workflow_update(workflow=workflow, **checked.validated_data)))

    @extend_schema(responses={204: None}, operation_id="workflow_delete", summary="Delete a workflow")
    def delete(self, request: Request, workflow_id: UUID) -> Response:
        """Its runs and what they saved stay."""
        services.workflow_delete(workflow=services.workflow_find(account=self.account, workflow_id=workflow_id))
        return Response(status=status.HTTP_204_NO_CONTENT)


class SkipNext(ApiView):
    required_scope = "schedule"

    @extend_schema(
        request=None,
        responses=WorkflowSerializer,
        operation_id="workflow_skip_next",
        summary="Leave the next time out",
    )
    def post(self, request: Request, workflow_id: UUID) -> Response:
        workflow = services.workflow_find(account=self.account, workflow_id=workflow_id)
        services.workflow_skip_next(workflow=workflow)
        return Response(_body(workflow))


class RunNow(ApiView):
    required_scope = "schedule"

    @extend_schema(
        request=None,
        responses=WorkflowSerializer,
        operation_id="workflow_run_now",
        summary="Run the next time as soon as the machine is free",
    )
    def post(self, request: Request, workflow_id: UUID) -> Response:
        """The next time is not run a second time later; the plan with it is published within seconds."""
        workflow = services.workflow_find(account=self.account, workflow_id=workflow_id)
        services.workflow_run_now(workflow=workflow)
        return Response(_body(workflow))


def _body(workflow: Workflow) -> Any:
    return _bodies([workflow])[0]


def _bodies(workflows: Any) -> list[Any]:
    windows = next_windows(workflows, clock.now())
    for workflow in workflows:
        workflow.next_window = windows.get(workflow.pk)
    return list(WorkflowSerializer(workflows, many=True).data)
