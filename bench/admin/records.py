"""Submissions, machines and the log, for looking up."""

from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from bench import services
from bench.admin.access import ReadOnlyAdmin
from bench.models import Decision, Node, Submission


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    list_display = ["short_id", "status", "suite", "schema_version", "n_runs", "bundle_bytes", "received_at"]
    list_filter = ["status", "suite", "schema_version"]
    list_select_related = ["account"]
    search_fields = ["id", "sha256", "account__email"]
    fields = [
        "id",
        "account",
        "status",
        "suite",
        "schema_version",
        "sha256",
        "bundle_bytes",
        "generated_at",
        "received_at",
        "runs_linked",
    ]
    readonly_fields = ["runs_linked"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Submission]:
        submissions: QuerySet[Submission] = super().get_queryset(request)
        return submissions.defer("bundle_packed").annotate(n_runs=Count("runs"))

    @admin.display(description="Submission")
    def short_id(self, submission: Submission) -> str:
        return str(submission.pk)[:8]

    @admin.display(description="Runs", ordering="n_runs")
    def n_runs(self, submission: Any) -> int:
        count: int = submission.n_runs
        return count

    @admin.display(description="Runs")
    def runs_linked(self, submission: Submission) -> SafeString:
        links = [
            (reverse("admin:bench_run_change", args=[run.pk]), str(run), run.get_status_display())
            for run in submission.runs.order_by("index").only("model", "task", "gpu_class", "status")
        ]
        return format_html("<ul>{}</ul>", format_html_join("", '<li><a href="{}">{}</a>: {}</li>', links))


@admin.register(Node)
class NodeAdmin(ReadOnlyAdmin):
    list_display = ["public_id", "gpu_name", "cpu_model", "is_counted", "n_runs", "created_at"]
    list_filter = ["is_counted", "is_reference"]
    search_fields = ["public_id", "gpu_name", "cpu_model", "account__email"]
    list_select_related = ["account"]
    fields = ["public_id", "account", "gpu_name", "driver_version", "vram_gb", "cpu_model", "ram_gb", "is_counted"]
    actions = ["count_selected", "discount_selected"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Node]:
        nodes: QuerySet[Node] = super().get_queryset(request)
        return nodes.annotate(n_runs=Count("runs"))

    @admin.display(description="Runs", ordering="n_runs")
    def n_runs(self, node: Any) -> int:
        count: int = node.n_runs
        return count

    @admin.action(description="Count as distinct machines", permissions=["moderate"])
    def count_selected(self, request: HttpRequest, queryset: QuerySet[Node]) -> None:
        self._count(request, queryset, is_counted=True)

    @admin.action(description="Don't count as distinct machines", permissions=["moderate"])
    def discount_selected(self, request: HttpRequest, queryset: QuerySet[Node]) -> None:
        self._count(request, queryset, is_counted=False)

    def _count(self, request: HttpRequest, queryset: QuerySet[Node], *, is_counted: bool) -> None:
        count = partial(services.node_count, by=request.user, is_counted=is_counted)  # type: ignore[arg-type]  # users only
        self.take_each(request, {node: partial(count, node=node) for node in queryset}, "machine")


@admin.register(Decision)
class DecisionAdmin(ReadOnlyAdmin):
    list_display = ["at", "action", "run", "reason_code", "decider", "by", "note"]
    list_filter = ["action", "reason_code"]
    list_select_related = ["run", "by"]
    search_fields = ["note", "run__model", "run__id"]
    date_hierarchy = "at"
    fields = ["at", "action", "run", "from_status", "to_status", "reason_code", "note", "decider", "by"]
