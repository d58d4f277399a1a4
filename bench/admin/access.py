"""What holds for every page of the desk: records are read, never typed over."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from bench.services.nodes import MODERATE

if TYPE_CHECKING:
    Base = admin.ModelAdmin[Any]
else:
    Base = admin.ModelAdmin  # generic in its stubs only


class ReadOnlyAdmin(Base):
    """No field of a record is a form field, and nothing is deleted."""

    list_per_page = 50

    class Media:
        css = {"all": ["css/desk.css"]}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_moderate_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(MODERATE))
