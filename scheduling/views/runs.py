"""Runs of an account, and one of them."""

from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from accounts.models import User
from bench.forms import PageNumber
from scheduling.errors import NotFound
from scheduling.pages import runs as pages
from scheduling.selectors.workflows import runs_with_plans
from scheduling.views.access import account_page

PER_PAGE = 50


@require_safe
@account_page
def runs(request: HttpRequest, account: User) -> HttpResponse:
    page = Paginator(runs_with_plans(account), PER_PAGE).get_page(PageNumber(request.GET).number)
    lines = [pages.line_of(run) for run in page.object_list]
    return render(request, "scheduling/runs.html", {"section": "schedule", "page": page, "lines": lines})


@gzip_page
@require_safe
@account_page
def run(request: HttpRequest, account: User, record_id: UUID) -> HttpResponse:
    found = runs_with_plans(account).filter(pk=record_id).first()
    if found is None:
        raise NotFound("run")
    return render(request, "scheduling/run.html", {"section": "schedule", **pages.context(found)})
