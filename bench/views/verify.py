"""A published row derived again before the reader's eyes, and the download with which anybody can do it at home."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from rest_framework.throttling import BaseThrottle

from asyncenergy.throttle import wait_s
from bench import selectors
from bench.forms import RowForm
from bench.selectors.corpus import corpus_release, verify_row

MOST_RUNS = 40  # what one request derives again; more is for the command


@require_safe
def verify(request: HttpRequest) -> HttpResponse:
    """What the runs of one row give, beside what is published."""
    form = RowForm(request.GET or None, auto_id="verify-%s")
    found = _verified(request, form) if form.is_valid() else {}
    context = {"section": "measure", "form": form, "release": corpus_release(), "most_runs": MOST_RUNS, **found}
    return render(request, "bench/verify.html", context, status=429 if "wait_minutes" in found else 200)


def _verified(request: HttpRequest, form: RowForm) -> dict[str, Any]:
    """The check, or why there is none."""
    key, task = form.cleaned_data["config"], form.cleaned_data["task"]
    row = next(iter(selectors.rows_of([key], task=task)), None)
    if row is None:
        return {"complaint": f"No row of {key} on {task} is published."}
    if row["n_runs"] > MOST_RUNS:
        return {"row": row, "complaint": f"This row rests on {row['n_runs']} runs, too many for a page."}
    address = BaseThrottle().get_ident(request)  # type: ignore[arg-type]  # it reads META, which both requests have
    wait = wait_s("verify", account=None, address=address)
    if wait is not None:
        return {
            "row": row,
            "complaint": "This address has asked often within the hour.",
            "wait_minutes": wait // 60 + 1,
        }
    return {"row": row, "check": verify_row(key, task)}
