"""The OpenAPI document: generated once, and served to programs and to the page for readers."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.http import HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.http import conditional_page
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.plumbing import get_lib_doc_excludes
from drf_spectacular.renderers import OpenApiJsonRenderer
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from api.v1.bench_answers import AnswerView, TableView
from api.views import ApiView, PublicView


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # the library has no types here
    target_class = "api.auth.BearerAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # as above
    target_class = "api.auth.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "header", "name": "X-API-Key"}


ERROR_SCHEMA = {
    "type": "object",
    "required": ["detail", "code", "errors"],
    "properties": {
        "detail": {"type": "string", "description": "What happened and the way out, in a sentence."},
        "code": {"type": "string", "description": "The same for the same kind of error, for programs."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["attr", "code", "detail"],
                "properties": {name: {"type": "string"} for name in ("attr", "code", "detail")},
            },
        },
    },
}
ERROR_RESPONSE = {
    "description": "Every refusal has this shape.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}


def words_of_no_call() -> list[type]:
    """Classes whose docstrings speak to programmers of the server: a call without words of its own has none."""
    return [*get_lib_doc_excludes(), ApiView, PublicView, AnswerView, TableView]  # type: ignore[no-untyped-call]  # as above


def describe_errors(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Give every operation the one error shape as its default response."""
    result.setdefault("components", {}).setdefault("schemas", {})["Error"] = ERROR_SCHEMA
    for methods in result["paths"].values():
        for operation in methods.values():
            operation["responses"].setdefault("default", ERROR_RESPONSE)
    return result


@cache
def schema_json() -> bytes:
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]  # as above
    return OpenApiJsonRenderer().render(schema, renderer_context={})


@method_decorator(conditional_page, name="dispatch")
class OpenApi(PublicView):
    @extend_schema(responses=OpenApiTypes.OBJECT, operation_id="openapi", summary="This document")
    def get(self, request: Request) -> HttpResponse:
        return HttpResponse(schema_json(), content_type="application/json")


class HealthSerializer(serializers.Serializer[dict[str, str]]):
    status = serializers.ChoiceField(["ok"])


class Health(PublicView):
    """Says that the process answers. It asks no database, so that a probe never waits for one."""

    throttle_classes: Sequence[Any] = ()

    @extend_schema(responses=HealthSerializer, operation_id="health", summary="Does the process answer")
    def get(self, request: Request) -> HttpResponse:
        return HttpResponse(b'{"status": "ok"}', content_type="application/json")
