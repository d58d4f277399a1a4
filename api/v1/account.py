"""What an account chose for its scheduling, what it saved, the markets to choose from, its controllers."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.pagination import PAGE_PARAMETERS, Pagination
from api.v1.account_schemas import (
    AccountChangeSerializer,
    AccountSerializer,
    ControllerChangeSerializer,
    ControllerSerializer,
    MarketSerializer,
    MonthSerializer,
)
from api.views import ApiView
from scheduling import services
from scheduling.selectors.prices import account_view, markets
from scheduling.selectors.savings import savings_by_month
from scheduling.selectors.workflows import controllers_of


class Account(ApiView):
    required_scope = "schedule"

    @extend_schema(responses=AccountSerializer, operation_id="account", summary="Timezone, market, tariff, limits")
    def get(self, request: Request) -> Response:
        return Response(AccountSerializer(account_view(self.account)).data)

    @extend_schema(
        request=AccountChangeSerializer,
        responses=AccountSerializer,
        operation_id="account_change",
        summary="Change them, or pause everything",
    )
    def patch(self, request: Request) -> Response:
        """Only what is given changes. While paused nothing new begins; what runs goes on."""
        checked = AccountChangeSerializer(data=request.data, partial=True)
        checked.is_valid(raise_exception=True)
        services.account_update(account=self.account, **checked.validated_data)
        return Response(AccountSerializer(account_view(self.account)).data)


class Markets(ApiView):
    required_scope = "schedule"
    query_parameters = PAGE_PARAMETERS
    pagination_class = Pagination

    @extend_schema(responses=MarketSerializer(many=True), operation_id="markets", summary="Markets to choose from")
    def get(self, request: Request) -> Response:
        pages = Pagination()
        page = pages.paginate_queryset(markets(), request, view=self)
        return pages.get_paginated_response(MarketSerializer(page, many=True).data)


class Savings(ApiView):
    required_scope = "schedule"

    @extend_schema(responses=MonthSerializer(many=True), operation_id="savings", summary="What was saved, by month")
    def get(self, request: Request) -> Response:
        """Measured energy x the published prices of the minutes it really ran. Losses are negative."""
        return Response(MonthSerializer(savings_by_month(self.account), many=True).data)


class Controllers(ApiView):
    required_scope = "schedule"
    query_parameters = PAGE_PARAMETERS
    pagination_class = Pagination

    @extend_schema(
        responses=ControllerSerializer(many=True), operation_id="controllers", summary="Your controllers, last contact"
    )
    def get(self, request: Request) -> Response:
        pages = Pagination()
        page = pages.paginate_queryset(controllers_of(self.account), request, view=self)
        return pages.get_paginated_response(ControllerSerializer(page, many=True).data)


class Controller(ApiView):
    required_scope = "schedule"

    @extend_schema(
        request=ControllerChangeSerializer,
        responses=ControllerSerializer,
        operation_id="controller_change",
        summary="Say how many jobs a controller runs at once",
    )
    def patch(self, request: Request, controller_id: str) -> Response:
        checked = ControllerChangeSerializer(data=request.data)
        checked.is_valid(raise_exception=True)
        data: dict[str, Any] = checked.validated_data
        row = services.controller_update(account=self.account, controller_id=controller_id, **data)
        return Response(ControllerSerializer(row).data)
