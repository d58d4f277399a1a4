"""What an account pays, where it is, and what its circuit bears."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import User
from asyncenergy.errors import AsyncEnergyError
from scheduling import services
from scheduling.forms import SettingsForm, take_error
from scheduling.selectors.prices import account_view, markets
from scheduling.views.access import account_page


@require_http_methods(["GET", "HEAD", "POST"])
@account_page
def settings(request: HttpRequest, account: User) -> HttpResponse:
    view = account_view(account)
    form = SettingsForm(request.POST if request.method == "POST" else None, view, list(markets()))
    if form.is_valid():
        try:
            services.account_update(account=account, **form.said())
            messages.success(request, "Saved. The plan is made again within seconds.")
            return redirect("scheduling:settings")
        except AsyncEnergyError as error:
            take_error(form, error, form.SERVICE_NAMES)
    return render(request, "scheduling/settings.html", {"section": "schedule", "form": form, "view": view})


@require_POST
@account_page
def pause(request: HttpRequest, account: User, paused: bool) -> HttpResponse:
    services.account_update(account=account, paused=paused)
    words = "Paused. Nothing new begins; what runs goes on." if paused else "Planned again, within seconds."
    messages.success(request, words)
    return redirect("scheduling:settings")
