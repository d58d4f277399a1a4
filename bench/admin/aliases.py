"""Spellings and the names they stand for."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from simple_history.admin import SimpleHistoryAdmin

from bench import services
from bench.models import Alias


@admin.register(Alias)
class AliasAdmin(SimpleHistoryAdmin):  # type: ignore[misc]  # the library has no types
    """Who changed which name is kept. Saving renames the runs that are there and rebuilds their rows."""

    change_form_template = "admin/bench/alias/change_form.html"
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

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if request.method == "POST" and "_preview" in request.POST:
            previewed = self._preview(request, object_id)
            if previewed is not None:
                return previewed
        response: HttpResponse = super().changeform_view(request, object_id, form_url, extra_context)
        return response

    def _preview(self, request: HttpRequest, object_id: str | None) -> HttpResponse | None:
        """What saving would merge; None where the form has faults, which its own page shows."""
        alias = self.get_object(request, object_id) if object_id else None
        allowed = self.has_change_permission(request, alias) if alias else self.has_add_permission(request)
        form = self.get_form(request, alias)(request.POST, instance=alias)
        if not allowed or not form.is_valid():
            return None
        asked = form.instance
        context = {
            **self.admin_site.each_context(request),
            "title": f"{asked.raw} would be shown as {asked.name}",
            "asked": asked,
            "meetings": services.alias_preview(kind=asked.kind, raw=asked.raw, name=asked.name),
            "is_new": alias is None,
            "opts": self.opts,
            "media": self.media,
        }
        return TemplateResponse(request, "admin/bench/alias/preview.html", context)
