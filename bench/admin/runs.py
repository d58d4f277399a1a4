"""The queue of runs and the desk on which one is judged."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Case, F, QuerySet, Value, When
from django.db.models.expressions import OrderBy
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timesince import timesince
from django.views.decorators.http import require_POST

from asyncenergy import clock
from asyncenergy.errors import AsyncEnergyError
from bench import desk, services
from bench.admin.access import ReadOnlyAdmin
from bench.admin.forms import DecisionForm
from bench.models import WAITING, Decision, Run
from bench.presentation import counted, significant
from bench.selectors import gates_failed

_QUEUE = Case(
    When(status=Run.Status.QUARANTINED, then=Value(0)), When(status=Run.Status.PENDING, then=Value(1)), default=Value(2)
)
_WAITING_SINCE = Case(When(status__in=WAITING, then=F("received_at")))

BulkAction = Callable[["RunAdmin", HttpRequest, QuerySet[Run]], HttpResponse | None]


def _bulk(action: Decision.Action, description: str) -> BulkAction:
    @admin.action(description=description, permissions=["moderate"])
    def decide(self: "RunAdmin", request: HttpRequest, queryset: QuerySet[Run]) -> HttpResponse | None:
        return self.decide_together(request, queryset, action)

    decide.__name__ = f"{action.value}_selected"
    return decide


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    """Waiting runs first, the longest waiting on top. Decisions go through the services, singly and in bulk."""

    change_form_template = "admin/bench/run/change_form.html"
    list_display = ["state", "what", "task", "gates_shown", "evidence", "headline", "machine", "age"]
    list_display_links = ["what"]
    list_filter = ["status", "task", "gpu_class", "methodology", "is_simulated", "suite"]
    list_select_related = ["node"]
    search_fields = ["model", "gpu_class", "config_key", "node__public_id", "submission__id", "id"]
    search_help_text = "model, GPU class, configuration key, machine, id of a run or submission"
    fieldsets = [
        ("Labels", {"fields": ["task", "model", "quantization", "engine", "gpu_class", "config_key", "suite"]}),
        ("Record", {"fields": ["id", "submission", "account", "index", "identity", "methodology", "measured_at"]}),
        ("Configuration and facts as sent", {"classes": ["collapse"], "fields": ["config", "facts", "claimed"]}),
        ("Every derived figure", {"classes": ["collapse"], "fields": ["figures"]}),
    ]
    actions = [
        _bulk(Decision.Action.PUBLISH, "Publish selected runs"),
        _bulk(Decision.Action.REJECT, "Hide selected runs"),
        _bulk(Decision.Action.WITHDRAW, "Withdraw selected runs"),
        _bulk(Decision.Action.REINSTATE, "Take selected runs up again"),
    ]

    def get_ordering(self, request: HttpRequest) -> list[OrderBy | str]:  # type: ignore[override]  # expressions sort too
        return [_QUEUE.asc(), _WAITING_SINCE.asc(nulls_last=True), "-received_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        runs: QuerySet[Run] = super().get_queryset(request)
        if request.resolver_match and request.resolver_match.url_name == "bench_run_changelist":
            return runs.defer("figures", "claimed", "facts", "config")
        return runs.select_related("node", "submission", "columns", "account")

    def get_urls(self) -> list[URLPattern]:
        decide = path("<uuid:run_id>/decide/", self.admin_site.admin_view(self.decide_one), name="bench_run_decide")
        return [decide, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"title": "Runs, those that wait first", **(extra_context or {})})

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        run = self.get_object(request, object_id)
        if run is None or not self.has_view_permission(request, run):
            return super().change_view(request, object_id, form_url, extra_context)
        form = DecisionForm.for_run(run) if self.has_moderate_permission(request) else None
        own = run.account_id == request.user.pk
        case = desk.case(run)
        context = {"case": case, "form": form, "is_own": own, "title": case.title, "subtitle": case.subtitle}
        return super().change_view(request, object_id, form_url, {**context, **(extra_context or {})})

    @method_decorator(require_POST)
    def decide_one(self, request: HttpRequest, run_id: UUID) -> HttpResponse:
        """Take the decision that the desk's form holds."""
        self._require_moderator(request)
        run = get_object_or_404(Run, pk=run_id)
        form = DecisionForm.for_run(run, request.POST)
        if form.is_valid():
            error = self._decide(request, [run], Decision.Action(form.cleaned_data["decision"]), form)
            if error is None:
                return HttpResponseRedirect(reverse("admin:bench_run_change", args=[run.pk]))
            form.add_error(None, error.detail)
        target = reverse("admin:bench_run_decide", args=[run.pk])
        return self._ask(request, form, [run], target)

    def decide_together(
        self, request: HttpRequest, queryset: QuerySet[Run], action: Decision.Action
    ) -> HttpResponse | None:
        """Ask for the reason once, then decide on all selected runs."""
        self._require_moderator(request)
        asked = "reason_code" in request.POST
        form = DecisionForm(request.POST if asked else None, actions=[action], initial={"decision": action})
        runs = list(queryset)
        if asked and form.is_valid():
            error = self._decide(request, runs, action, form)
            if error is None:
                return None
            form.add_error(None, error.detail)
        return self._ask(request, form, runs, "", f"{action.value}_selected")

    def _require_moderator(self, request: HttpRequest) -> None:
        if not self.has_moderate_permission(request):
            raise PermissionDenied

    def _decide(
        self, request: HttpRequest, runs: list[Run], action: Decision.Action, form: DecisionForm
    ) -> AsyncEnergyError | None:
        try:
            outcome = services.runs_decide(
                run_ids=[run.pk for run in runs],
                action=action,
                by=request.user,  # type: ignore[arg-type]  # the admin lets in users only
                reason_code=form.cleaned_data["reason_code"],
                note=form.cleaned_data["note"],
            )
        except AsyncEnergyError as refusal:
            return refusal
        if outcome.decisions:
            done = counted(len(outcome.decisions), "run")
            self.message_user(request, f"{done} {action.label}. The board follows within seconds.", messages.SUCCESS)
        for run, reason in outcome.refused:
            self.message_user(request, f"Not {action.label}: {run}. {reason.detail}", messages.ERROR)
        return None

    def _ask(
        self, request: HttpRequest, form: DecisionForm, runs: list[Run], target: str, action_name: str = ""
    ) -> TemplateResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": f"Decide on {counted(len(runs), 'run')}",
            "form": form,
            "runs": runs,
            "target": target,
            "action_name": action_name,
            "opts": self.opts,
            "media": self.media,
        }
        status = 400 if form.errors else 200
        return TemplateResponse(request, "admin/bench/run/decide.html", context, status=status)

    @admin.display(description="Status", ordering="status")
    def state(self, run: Run) -> SafeString:
        return format_html('<span class="desk-state {}">{}</span>', run.status, run.get_status_display())

    @admin.display(description="Run", ordering="model")
    def what(self, run: Run) -> SafeString:
        parts = filter(None, (run.quantization, run.engine, run.gpu_class))
        simulated = format_html(' <span class="mark stop">simulated</span>') if run.is_simulated else ""
        return format_html('{}{}<span class="sub">{}</span>', run.model, simulated, " · ".join(parts))

    @admin.display(description="Gates")
    def gates_shown(self, run: Run) -> SafeString:
        failed = [(_VERDICTS[gate["severity"]], gate["code"]) for gate in gates_failed(run)]
        distinct = list(dict.fromkeys(failed))
        shown = format_html_join(" ", '<span class="verdict {}">{}</span>', distinct)
        return shown or format_html('<span class="verdict ok">none</span>')

    @admin.display(description="Tier", ordering="tier")
    def evidence(self, run: Run) -> str:
        claimed = f" (claimed {run.tier_claimed})" if run.tier_claimed and run.tier_claimed != run.tier else ""
        return f"{run.tier or 'none'}{claimed}"

    @admin.display(description="J / correct", ordering="joules_per_correct_answer")
    def headline(self, run: Run) -> str:
        value = run.joules_per_correct_answer
        return "undefined" if value is None else significant(value)

    @admin.display(description="Machine", ordering="node__public_id")
    def machine(self, run: Run) -> str:
        return run.node.public_id if run.node else "unnamed"

    @admin.display(description="Age", ordering="received_at")
    def age(self, run: Run) -> str:
        return timesince(run.received_at, clock.now(), depth=1)


_VERDICTS = {"quarantine": "held", "flag": "flag"}
