"""Controllers of an account."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.models import User
from asyncenergy import clock
from scheduling import services
from scheduling.forms import CapacityForm
from scheduling.selectors.workflows import controller_states, workflows_of_unknown_controllers
from scheduling.views.access import account_page


@require_http_methods(["GET", "HEAD", "POST"])
@account_page
def controllers(request: HttpRequest, account: User) -> HttpResponse:
    """When each was last in touch. A POST says how many jobs one runs at once."""
    form = CapacityForm(request.POST or None)
    if form.is_valid():
        row = services.controller_update(account=account, **form.cleaned_data)
        messages.success(request, f"{row.controller_id} runs at most {row.capacity} at once. The plan is made again.")
        return redirect("scheduling:controllers")
    if form.errors:
        said = request.POST.get("capacity", "")
        messages.error(request, f"A controller runs 1 to 100 jobs at once, not {said!r:.20}. Nothing was changed.")
    context = {
        "section": "schedule",
        "states": controller_states(account, clock.now()),
        "unmatched": workflows_of_unknown_controllers(account),
    }
    return render(request, "scheduling/controllers.html", context)
