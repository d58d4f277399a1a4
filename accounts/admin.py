"""Accounts in the admin: a superuser appoints maintainers and closes accounts here."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import BaseUserCreationForm
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from accounts.forms import FiguresForm
from accounts.models import ApiKey, User
from bench.services import account_delete

if TYPE_CHECKING:  # generic in the stubs only
    UserForm = BaseUserCreationForm[User]
    Accounts = UserAdmin[User]
    Keys = admin.ModelAdmin[ApiKey]
else:
    UserForm, Accounts, Keys = BaseUserCreationForm, UserAdmin, admin.ModelAdmin


class NewUserForm(UserForm):
    class Meta:
        model = User
        fields = ("email",)


@admin.register(User)
class AccountAdmin(Accounts):
    add_form = NewUserForm
    list_display = ["email", "is_active", "is_staff", "email_confirmed_at", "date_joined"]
    list_filter = ["is_active", "is_staff", "groups"]
    search_fields = ["email"]
    ordering = ["email"]
    readonly_fields = ["last_login", "date_joined", "email_confirmed_at", "signed_out_at"]
    fieldsets = [
        (None, {"fields": ["email", "password", "timezone", "region"]}),
        ("Rights", {"fields": ["is_active", "is_staff", "is_superuser", "groups", "user_permissions"]}),
        ("Dates", {"fields": ["date_joined", "last_login", "email_confirmed_at", "signed_out_at"]}),
    ]
    add_fieldsets = [(None, {"fields": ["email", "password1", "password2"]})]

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Without deleting in bulk: what becomes of the figures is asked for one account at a time."""
        return {name: action for name, action in super().get_actions(request).items() if name != "delete_selected"}

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Ask what becomes of the published figures, and delete as the owner's own page does."""
        account = self.get_object(request, object_id)
        if not self.has_delete_permission(request, account):
            raise PermissionDenied
        if account is None:
            raise Http404
        form = FiguresForm(request.POST if request.method == "POST" else None)
        if not form.is_valid():
            context = {**self.admin_site.each_context(request), "account": account, "form": form, "opts": self.opts}
            return TemplateResponse(request, "admin/accounts/user/delete.html", context | {"title": "Delete account"})
        self.log_deletions(request, [account])  # type: ignore[arg-type]  # the stubs want a query set
        account_delete(account=account, keeps_figures=form.keeps_figures)
        messages.success(request, f"The account {account.email} is deleted.")
        return redirect("admin:accounts_user_changelist")


@admin.register(ApiKey)
class ApiKeyAdmin(Keys):
    """Keys to look at; only their owners make and revoke them."""

    list_display = ["name", "user", "scope", "hint", "created_at", "expires_at", "revoked_at", "last_used_at"]
    list_select_related = ["user"]
    list_filter = ["scope"]
    search_fields = ["name", "user__email"]
    fields = ["user", "name", "scope", "hint", "created_at", "expires_at", "revoked_at", "last_used_at"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
