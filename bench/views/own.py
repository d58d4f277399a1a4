"""What an account sent, for its owner."""

from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import User
from bench import selectors
from bench.forms import PageNumber
from bench.pages import own

SUBMISSIONS_PER_PAGE = 50


@require_safe
@login_required
@never_cache
def own_runs(request: HttpRequest) -> HttpResponse:
    """The runs that the account sent, newest first: the state of each, what holds it and what was decided."""
    page = PageNumber(request.GET).number
    offset = SUBMISSIONS_PER_PAGE * (page - 1)
    sent = selectors.submissions_of(cast(User, request.user))  # behind login_required
    total = sent.count()
    shown = sent[offset : offset + SUBMISSIONS_PER_PAGE]
    context = {
        "section": "measure",
        "lines": own.lines(map(selectors.submission_summary, shown)),
        "total": total,
        "newer": page - 1 if page > 1 else None,
        "older": page + 1 if offset + SUBMISSIONS_PER_PAGE < total else None,
    }
    return render(request, "bench/own_runs.html", context)
