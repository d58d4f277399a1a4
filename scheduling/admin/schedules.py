"""Workflows, schedules and runs, for looking up; their owners change them."""

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from bench.admin.access import ReadOnlyAdmin
from scheduling.models import RunRecord, ScheduleVersion, Workflow

WORKFLOW = ("name", "account", "framework", "recurrence", "deadline", "enabled", "created_at", "deleted_at")
VERSION = ("number", "account", "created_at", "cause", "degraded", "cost", "lower_bound", "n_placements")
RUN = ("run_id", "controller_id", "account", "workflow", "exit_status", "energy_wh", "duration_s", "ts")


@admin.register(Workflow)
class WorkflowAdmin(ReadOnlyAdmin):
    list_display = WORKFLOW
    list_filter = ["framework", "recurrence", "enabled"]
    list_select_related = ["account"]
    search_fields = ["name", "id", "account__email"]
    fields = [
        *WORKFLOW,
        "earliest_start",
        "est_duration_s",
        "nameplate_watts",
        "controller_id",
        "interruptible",
        "priority",
    ]


@admin.register(ScheduleVersion)
class ScheduleVersionAdmin(ReadOnlyAdmin):
    list_display = VERSION
    list_filter = ["cause", "degraded", "time_limited"]
    list_select_related = ["account"]
    search_fields = ["id", "account__email"]
    fields = [*VERSION[:-1], "market", "currency", "valid_until", "price_coverage", "proved", "time_limited"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ScheduleVersion]:
        versions: QuerySet[ScheduleVersion] = super().get_queryset(request)
        bare = versions.defer("snapshot_zlib", "certificate_zlib")
        return bare.annotate(placements_count=Count("placements")).order_by("-created_at")

    @admin.display(description="Placements", ordering="placements_count")
    def n_placements(self, version: ScheduleVersion) -> int:
        count: int = getattr(version, "placements_count", 0)
        return count


@admin.register(RunRecord)
class RunRecordAdmin(ReadOnlyAdmin):
    list_display = RUN
    list_filter = ["exit_status", "energy_source"]
    list_select_related = ["account", "workflow"]
    search_fields = ["run_id", "controller_id", "account__email"]
    date_hierarchy = "ts"
    fields = [
        *RUN,
        "energy_source",
        "scheduled_start",
        "actual_start",
        "schedule_version",
        "warnings",
        "received_at",
    ]
