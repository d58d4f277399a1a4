"""API keys: listed, made and revoked by their owner."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import services
from accounts.models import ApiKey
from accounts.selectors import api_keys_of
from api.fields import InstantField, StrictCharField
from api.pagination import PAGE_PARAMETERS, Pagination
from api.views import ApiView


class NewKeySerializer(serializers.Serializer[dict[str, Any]]):
    name = StrictCharField(max_length=80)
    scope = serializers.ChoiceField(ApiKey.Scope.choices, default=ApiKey.Scope.ALL)
    expires_at = InstantField(required=False, allow_null=True, default=None)


class KeySerializer(serializers.ModelSerializer[ApiKey]):
    created_at = InstantField()
    expires_at = InstantField(allow_null=True)
    last_used_at = InstantField(allow_null=True)

    class Meta:
        model = ApiKey
        fields = ["id", "name", "scope", "hint", "created_at", "expires_at", "last_used_at"]


class MintedKeySerializer(KeySerializer):
    key = serializers.CharField(help_text="shown this once")

    class Meta(KeySerializer.Meta):
        fields = [*KeySerializer.Meta.fields, "key"]


class Keys(ApiView):
    pagination_class = Pagination
    query_parameters = PAGE_PARAMETERS

    @extend_schema(responses=KeySerializer(many=True), summary="List your keys", operation_id="keys_list")
    def get(self, request: Request) -> Response:
        pages = Pagination()
        page = pages.paginate_queryset(api_keys_of(self.account), request, view=self)
        return pages.get_paginated_response(KeySerializer(page, many=True).data)

    @extend_schema(request=NewKeySerializer, responses={201: MintedKeySerializer}, summary="Make a key")
    def post(self, request: Request) -> Response:
        """The answer is the only place where the key itself is ever shown."""
        checked = NewKeySerializer(data=request.data)
        checked.is_valid(raise_exception=True)
        key, secret = services.api_key_create(user=self.account, **checked.validated_data)
        body = KeySerializer(key).data | {"key": secret}
        return Response(body, status=status.HTTP_201_CREATED, headers={"Cache-Control": "no-store"})


class Key(ApiView):
    @extend_schema(responses={204: None}, summary="Revoke a key")
    def delete(self, request: Request, key_id: UUID) -> Response:
        services.api_key_revoke(user=self.account, key_id=key_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
