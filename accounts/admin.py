"""Accounts in the admin: a superuser appoints maintainers and closes accounts here."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import BaseUserCreationForm
from django.http import HttpRequest

from accounts.models import ApiKey, User

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
