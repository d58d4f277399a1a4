"""Addresses that exist in tests only: they show what every view of the API inherits."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import ApiKey
from api.fields import InstantField, StrictBooleanField, StrictCharField, StrictFloatField, StrictIntegerField
from api.pagination import PAGE_PARAMETERS, PublicPagination
from api.views import ApiView, PublicView
from asyncenergy import urls as product
from asyncenergy.errors import AsyncEnergyError


class EchoSerializer(serializers.Serializer[Any]):
    text = StrictCharField(required=False)
    whole = StrictIntegerField(required=False)
    number = StrictFloatField(required=False)
    yes = StrictBooleanField(required=False)
    at = InstantField(required=False)
    inner = serializers.ListField(child=serializers.DictField(child=StrictIntegerField()), required=False)


class Bench(ApiView):
    required_scope = "bench"

    def get(self, request: Request) -> Response:
        return Response({"account": self.account.pk})


class Echo(PublicView):
    throttle_scope = "submissions"

    def post(self, request: Request) -> Response:
        checked = EchoSerializer(data=request.data)
        checked.is_valid(raise_exception=True)
        return Response(EchoSerializer(checked.validated_data).data)


class Numbers(PublicView):
    query_parameters = PAGE_PARAMETERS

    def get(self, request: Request) -> Response:
        pages = PublicPagination()
        page = pages.paginate_queryset(list(range(1200)), request, view=self)
        return pages.get_paginated_response(page, data_version="v1")


class Broken(PublicView):
    def get(self, request: Request, how: str) -> Response:
        if how == "known":
            raise AsyncEnergyError("Too hot.", code="too_hot", errors=[{"attr": "t", "code": "hot", "detail": "90 C"}])
        if how == "missing":
            raise Http404
        if how == "row":
            ApiKey.objects.get(name="nobody")
        raise RuntimeError("a fault of ours, with a secret in it")


def broken_page(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("a fault of ours, with a secret in it")


urlpatterns = [
    path("api/probe/bench", Bench.as_view()),
    path("api/probe/echo", Echo.as_view()),
    path("api/probe/numbers", Numbers.as_view()),
    path("api/probe/broken/<str:how>", Broken.as_view()),
    path("broken-page/", broken_page),
    *product.urlpatterns,
]
handler400 = product.handler400
handler403 = product.handler403
handler404 = product.handler404
handler500 = product.handler500
