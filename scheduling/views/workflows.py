"""Workflows of an account: listed, made, changed, paused, skipped, run at once, deleted."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import User
from asyncenergy import clock
from asyncenergy.errors import AsyncEnergyError
from bench.forms import PageNumber
from scheduling import services
from scheduling.forms import WorkflowForm, take_error
from scheduling.models import Workflow
from scheduling.pages import workflows as pages
from scheduling.selectors.workflows import controllers_of, workflow_states, workflows_of
from scheduling.views.access import account_page

PER_PAGE = 50
read_or_post = require_http_methods(["GET", "HEAD", "POST"])
Act = Callable[[Workflow], object]


def _pause(workflow: Workflow) -> object:
    return services.workflow_update(workflow=workflow, enabled=False)


def _resume(workflow: Workflow) -> object:
    return services.workflow_update(workflow=workflow, enabled=True)


ACTS: Mapping[str, tuple[Act, str]] = {
    "pause": (_pause, "{} is paused. What runs now goes on."),
    "resume": (_resume, "{} is planned again."),
    "skip-next": (lambda workflow: services.workflow_skip_next(workflow=workflow), "The next time of {} is left out."),
    "run-now": (
        lambda workflow: services.workflow_run_now(workflow=workflow),
        "{} begins as soon as its machine is free; the plan with it is made within seconds.",
    ),
}


@require_safe
@account_page
def workflows(request: HttpRequest, account: User) -> HttpResponse:
    page = Paginator(workflows_of(account), PER_PAGE).get_page(PageNumber(request.GET).number)
    states = workflow_states(page.object_list, clock.now())
    return render(request, "scheduling/workflows.html", {"section": "schedule", "page": page, "states": states})


@read_or_post
@account_page
def workflow_new(request: HttpRequest, account: User) -> HttpResponse:
    form = WorkflowForm(request.POST or None)
    if form.is_valid():
        try:
            made = services.workflow_create(account=account, **form.said())
            messages.success(request, f"{made.name} is registered. Its place is found within seconds.")
            return redirect("scheduling:workflow", made.pk)
        except AsyncEnergyError as error:
            take_error(form, error, form.SERVICE_NAMES)
    return _form_page(request, account, form)


@read_or_post
@account_page
def workflow_edit(request: HttpRequest, account: User, workflow_id: UUID) -> HttpResponse:
    workflow = services.workflow_find(account=account, workflow_id=workflow_id)
    form = WorkflowForm(request.POST) if request.method == "POST" else WorkflowForm.of(workflow)
    if form.is_valid():
        try:
            services.workflow_update(workflow=workflow, **form.said())
            messages.success(request, "Changed. The plan is made again within seconds; what runs goes on as it was.")
            return redirect("scheduling:workflow", workflow.pk)
        except AsyncEnergyError as error:
            take_error(form, error, form.SERVICE_NAMES)
    return _form_page(request, account, form, workflow)


def _form_page(
    request: HttpRequest, account: User, form: WorkflowForm, workflow: Workflow | None = None
) -> HttpResponse:
    names = list(controllers_of(account).values_list("controller_id", flat=True))
    context: dict[str, Any] = {"section": "schedule", "form": form, "workflow": workflow, "controllers": names}
    return render(request, "scheduling/workflow_form.html", context)


@require_safe
@account_page
def workflow(request: HttpRequest, account: User, workflow_id: UUID) -> HttpResponse:
    found = services.workflow_find(account=account, workflow_id=workflow_id)
    return render(request, "scheduling/workflow.html", {"section": "schedule", **pages.context(found, clock.now())})


@require_POST
@account_page
def workflow_act(request: HttpRequest, account: User, workflow_id: UUID, act: str) -> HttpResponse:
    found = services.workflow_find(account=account, workflow_id=workflow_id)
    does, words = ACTS[act]
    try:
        does(found)
        messages.success(request, words.format(found.name))
    except AsyncEnergyError as error:
        messages.error(request, error.detail)
    return redirect("scheduling:workflow", found.pk)


@require_POST
@account_page
def workflow_deadline(request: HttpRequest, account: User, workflow_id: UUID) -> HttpResponse:
    """Set the deadline that a page offered; its owner pressed the button."""
    found = services.workflow_find(account=account, workflow_id=workflow_id)
    try:
        services.workflow_update(workflow=found, deadline=request.POST.get("deadline", "")[:120])
        messages.success(request, f"{found.name} is now due {request.POST.get('deadline', '')}.")
    except AsyncEnergyError as error:
        messages.error(request, error.detail)
    return redirect("scheduling:tonight")


@read_or_post
@account_page
def workflow_delete(request: HttpRequest, account: User, workflow_id: UUID) -> HttpResponse:
    """A GET asks, the button deletes."""
    found = services.workflow_find(account=account, workflow_id=workflow_id)
    if request.method != "POST":
        return render(request, "scheduling/workflow_delete.html", {"section": "schedule", "workflow": found})
    services.workflow_delete(workflow=found)
    messages.success(request, f"{found.name} is deleted. Its runs and what they saved stay.")
    return redirect("scheduling:workflows")
