"""Pages of an account. They parse, call a service and show the outcome."""

from collections.abc import Callable
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth import logout as end_session
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LoginView, LogoutView, redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from rest_framework.throttling import BaseThrottle

from accounts import forms, services
from accounts.models import User
from accounts.selectors import account_of_reset_link, api_keys_of
from asyncenergy.errors import AsyncEnergyError
from asyncenergy.throttle import wait_s
from bench.services import account_delete

MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"
DELETED = {
    True: "Your account is deleted. Its published figures stay, without a link to you.",
    False: "Your account is deleted, and its published figures are withdrawn.",
}
read_or_post = require_http_methods(["GET", "HEAD", "POST"])


def _throttled(request: HttpRequest, scope: str) -> HttpResponse | None:
    """Count a POST and return the refusal where the caller has to wait; the API counts in the same window."""
    address = BaseThrottle().get_ident(request)  # type: ignore[arg-type]  # it reads META, which both requests have
    wait = wait_s(scope, account=None, address=address) if request.method == "POST" else None
    if wait is None:
        return None
    page = render(request, "accounts/throttled.html", {"minutes": wait // 60 + 1}, status=429)
    page.headers["Retry-After"] = str(wait)
    return page


def _link(request: HttpRequest, page: str) -> Callable[..., str]:
    return lambda *parts: request.build_absolute_uri(reverse(page, args=parts))


def _user(request: HttpRequest) -> User:
    return cast(User, request.user)  # behind login_required


class Login(LoginView):
    template_name = "accounts/login.html"
    authentication_form = forms.LoginForm
    redirect_authenticated_user = True
    http_method_names = ["get", "head", "post", "options"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return _throttled(request, "login") or super().dispatch(request, *args, **kwargs)


logout = LogoutView.as_view()


@require_safe
def admin_login(request: HttpRequest) -> HttpResponse:
    """Stand in for the admin's own form, so that there is one place to sign in and one throttle on it."""
    if request.user.is_authenticated:
        raise PermissionDenied
    return redirect_to_login(request.GET.get("next") or reverse("admin:index"))


@sensitive_post_parameters("password")
@never_cache
@read_or_post
def signup(request: HttpRequest) -> HttpResponse:
    form = forms.SignupForm(request.POST or None)
    refusal = _throttled(request, "signup")
    if refusal or not form.is_valid():
        return refusal or render(request, "accounts/signup.html", {"form": form})
    try:
        user = services.account_create(**form.cleaned_data)
    except AsyncEnergyError as error:
        forms.take_error(form, error)
        return render(request, "accounts/signup.html", {"form": form})
    services.confirmation_send(user=user, link=_link(request, "accounts:confirm"))
    login(request, user, backend=MODEL_BACKEND)
    return redirect("accounts:account")


@login_required
@require_safe
def account(request: HttpRequest) -> HttpResponse:
    return render(request, "accounts/account.html", {"account": request.user})


@login_required
@require_POST
def confirmation_resend(request: HttpRequest) -> HttpResponse:
    refusal = _throttled(request, "mail")
    if refusal:
        return refusal
    services.confirmation_send(user=_user(request), link=_link(request, "accounts:confirm"))
    messages.success(request, f"A letter is on its way to {_user(request).email}.")
    return redirect("accounts:account")


@read_or_post
def confirm(request: HttpRequest, token: str) -> HttpResponse:
    """The letter's link shows a button: programs that open links in letters confirm nothing."""
    if request.method != "POST":
        return render(request, "accounts/confirm.html")
    try:
        services.email_confirm(token=token)
    except AsyncEnergyError as error:
        return render(request, "accounts/confirm.html", {"error": error.detail}, status=error.status_code)
    messages.success(request, "Your e-mail address is confirmed.")
    return redirect("accounts:account")


@login_required
@require_POST
def sign_out_everywhere(request: HttpRequest) -> HttpResponse:
    services.sign_out_everywhere(user=_user(request))
    messages.success(request, "All browsers and programs are signed out. API keys stay valid until you revoke them.")
    return redirect("accounts:login")


@sensitive_post_parameters("current_password", "new_password")
@login_required
@never_cache
@read_or_post
def password_change(request: HttpRequest) -> HttpResponse:
    form, user = forms.PasswordChangeForm(request.POST or None), _user(request)
    refusal = _throttled(request, "login")
    if refusal or not form.is_valid():
        return refusal or render(request, "accounts/password_change.html", {"form": form})
    try:
        services.password_change(
            user=user, current=form.cleaned_data["current_password"], new=form.cleaned_data["new_password"]
        )
    except AsyncEnergyError as error:
        forms.take_error(form, error)
        return render(request, "accounts/password_change.html", {"form": form})
    update_session_auth_hash(request, user)
    messages.success(request, "The password is changed, and all other browsers and programs are signed out.")
    return redirect("accounts:account")


@sensitive_post_parameters("current_password")
@login_required
@never_cache
@read_or_post
def delete(request: HttpRequest) -> HttpResponse:
    form, user = forms.DeletionForm(request.POST or None), _user(request)
    refusal = _throttled(request, "login")
    if refusal or not form.is_valid():
        return refusal or render(request, "accounts/delete.html", {"form": form})
    try:
        services.password_require(user=user, current=form.cleaned_data["current_password"])
    except AsyncEnergyError as error:
        forms.take_error(form, error)
        return render(request, "accounts/delete.html", {"form": form})
    account_delete(account=user, keeps_figures=form.keeps_figures)
    end_session(request)
    messages.success(request, DELETED[form.keeps_figures])
    return redirect("accounts:login")


@never_cache
@read_or_post
def password_reset(request: HttpRequest) -> HttpResponse:
    form = forms.PasswordResetForm(request.POST or None)
    refusal = _throttled(request, "mail")
    if refusal or not form.is_valid():
        return refusal or render(request, "accounts/password_reset.html", {"form": form})
    email = form.cleaned_data["email"]
    services.password_reset_send(email=email, link=_link(request, "accounts:password-new"))
    return render(request, "accounts/password_reset.html", {"sent_to": email})


@sensitive_post_parameters("new_password")
@never_cache
@read_or_post
def password_new(request: HttpRequest, uid: str, token: str) -> HttpResponse:
    if account_of_reset_link(uid, token) is None:
        return render(request, "accounts/password_new.html", {"broken": True}, status=400)
    form = forms.PasswordNewForm(request.POST or None)
    refusal = _throttled(request, "login")
    if refusal or not form.is_valid():
        return refusal or render(request, "accounts/password_new.html", {"form": form})
    try:
        services.password_reset(uid=uid, token=token, new=form.cleaned_data["new_password"])
    except AsyncEnergyError as error:
        forms.take_error(form, error)
        return render(request, "accounts/password_new.html", {"form": form})
    messages.success(request, "The new password is set. Sign in with it.")
    return redirect("accounts:login")


@login_required
@never_cache
@read_or_post
def keys(request: HttpRequest) -> HttpResponse:
    """List the keys. A POST makes one and answers with it instead of a redirect: it is shown this once only."""
    form = forms.KeyForm(request.POST or None)
    minted = None
    if form.is_valid():
        try:
            minted = services.api_key_create(user=_user(request), **form.cleaned_data)[1]
            form = forms.KeyForm()
        except AsyncEnergyError as error:
            forms.take_error(form, error)
    page = {"section": "schedule", "form": form, "keys": api_keys_of(_user(request)), "minted": minted}
    return render(request, "accounts/keys.html", page)


@login_required
@require_POST
def key_revoke(request: HttpRequest, key_id: UUID) -> HttpResponse:
    try:
        key = services.api_key_revoke(user=_user(request), key_id=key_id)
    except AsyncEnergyError as error:
        return render(request, "404.html", {"detail": error.detail}, status=error.status_code)
    messages.success(request, f"The key {key.name} is revoked.")
    return redirect("accounts:keys")
