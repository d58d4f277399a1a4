"""Spellings and the names they stand for."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from simple_history.admin import SimpleHistoryAdmin

from bench import services
from bench.models import Alias


@admin.register(Alias)
class AliasAdmin(SimpleHistoryAdmin):  # type: ignore[misc]  # the library has no types
    """Who changed which name is kept. Saving renames the runs that are there and rebuilds their rows."""

    list_display = ["kind", "raw", "name"]
    list_filter = ["kind"]
    search_fields = ["raw", "name"]
    fields = ["kind", "raw", "name"]

    def has_delete_permission(self, request: HttpRequest, obj: Alias | None = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Alias | None = None) -> list[str]:
        return ["kind", "raw"] if obj else []

    def save_model(self, request: HttpRequest, obj: Alias, form: Any, change: bool) -> None:
        saved = services.alias_set(kind=obj.kind, raw=obj.raw, name=obj.name)
        obj.pk = saved.pk
