"""Sign-up, login and refresh of programs; passwords; signing out."""

from collections.abc import Callable
from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import services
from api.fields import StrictCharField
from api.views import ApiView, PublicView


class CredentialsSerializer(serializers.Serializer[dict[str, str]]):
    email = StrictCharField(max_length=254)
    password = StrictCharField(max_length=1024, trim_whitespace=False, write_only=True)


class SignupSerializer(serializers.Serializer[dict[str, str]]):
    email = serializers.EmailField(max_length=254)
    password = StrictCharField(max_length=1024, trim_whitespace=False, write_only=True)
    timezone = StrictCharField(max_length=64, required=False, default="UTC", help_text="such as Europe/Stockholm")
    region = StrictCharField(max_length=64, required=False, allow_blank=True, default="")


class RefreshSerializer(serializers.Serializer[dict[str, str]]):
    refresh_token = StrictCharField(max_length=4096)


class UserSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    email = serializers.EmailField()


class TokenPairSerializer(serializers.Serializer[services.TokenPair]):
    access_token = serializers.CharField()
    refresh_token = serializers.CharField()
    token_type = serializers.ChoiceField(["bearer"])
    expires_in = serializers.IntegerField(help_text="seconds until the access token expires")
    user = UserSerializer()


class PasswordChangeSerializer(serializers.Serializer[dict[str, str]]):
    current_password = StrictCharField(max_length=1024, trim_whitespace=False)
    new_password = StrictCharField(max_length=1024, trim_whitespace=False)


class PasswordResetSerializer(serializers.Serializer[dict[str, str]]):
    email = StrictCharField(max_length=254)


class NewPasswordSerializer(serializers.Serializer[dict[str, str]]):
    uid = StrictCharField(max_length=64)
    token = StrictCharField(max_length=128)
    new_password = StrictCharField(max_length=1024, trim_whitespace=False)


def _input(serializer: type[serializers.Serializer[dict[str, str]]], request: Request) -> dict[str, str]:
    checked = serializer(data=request.data)
    checked.is_valid(raise_exception=True)
    data: dict[str, str] = checked.validated_data
    return data


def _pair(pair: services.TokenPair, code: int = status.HTTP_200_OK) -> Response:
    return Response(TokenPairSerializer(pair).data, status=code, headers={"Cache-Control": "no-store"})


def page_link(request: Request, page: str) -> Callable[..., str]:
    return lambda *parts: request.build_absolute_uri(reverse(page, args=parts))


class Signup(PublicView):
    throttle_scope = "signup"

    @extend_schema(request=SignupSerializer, responses={201: TokenPairSerializer}, summary="Make an account")
    def post(self, request: Request) -> Response:
        user = services.account_create(**_input(SignupSerializer, request))
        services.confirmation_send(user=user, link=page_link(request, "accounts:confirm"))
        return _pair(services.login_open(user=user), status.HTTP_201_CREATED)


class Login(PublicView):
    throttle_scope = "login"

    @extend_schema(request=CredentialsSerializer, responses=TokenPairSerializer, summary="Log in")
    def post(self, request: Request) -> Response:
        return _pair(services.login_with_password(**_input(CredentialsSerializer, request)))


class Refresh(PublicView):
    @extend_schema(request=RefreshSerializer, responses=TokenPairSerializer, summary="Trade a refresh token in")
    def post(self, request: Request) -> Response:
        return _pair(services.tokens_refresh(**_input(RefreshSerializer, request)))


class Logout(PublicView):
    @extend_schema(request=RefreshSerializer, responses={204: None}, summary="End this login")
    def post(self, request: Request) -> Response:
        services.login_close(**_input(RefreshSerializer, request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class LogoutEverywhere(ApiView):
    @extend_schema(request=None, responses={204: None}, summary="End all logins and browser sessions")
    def post(self, request: Request) -> Response:
        services.sign_out_everywhere(user=self.account)
        return Response(status=status.HTTP_204_NO_CONTENT)


class PasswordChange(ApiView):
    throttle_scope = "login"

    @extend_schema(request=PasswordChangeSerializer, responses=TokenPairSerializer, summary="Change the password")
    def post(self, request: Request) -> Response:
        """All logins end; the answer is a new one."""
        data = _input(PasswordChangeSerializer, request)
        services.password_change(user=self.account, current=data["current_password"], new=data["new_password"])
        return _pair(services.login_open(user=self.account))


class PasswordReset(PublicView):
    throttle_scope = "mail"

    @extend_schema(request=PasswordResetSerializer, responses={204: None}, summary="Send a link for a new password")
    def post(self, request: Request) -> Response:
        """The answer is the same whether the address is known or not."""
        link = page_link(request, "accounts:password-new")
        services.password_reset_send(link=link, **_input(PasswordResetSerializer, request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class PasswordNew(PublicView):
    throttle_scope = "login"

    @extend_schema(request=NewPasswordSerializer, responses=TokenPairSerializer, summary="Set a new password by a link")
    def post(self, request: Request) -> Response:
        data = _input(NewPasswordSerializer, request)
        user = services.password_reset(uid=data["uid"], token=data["token"], new=data["new_password"])
        return _pair(services.login_open(user=user))
