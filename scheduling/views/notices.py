"""What an account is told, and where."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import User
from asyncenergy.errors import AsyncEnergyError
from asyncenergy.throttle import wait_s
from scheduling import services
from scheduling.forms import NoticesForm, take_error
from scheduling.selectors.notices import latest_notices
from scheduling.selectors.prices import account_view
from scheduling.views.access import account_page


@require_http_methods(["GET", "HEAD", "POST"])
@account_page
def notices(request: HttpRequest, account: User) -> HttpResponse:
    view = account_view(account)
    initial = {**view["notices"], "webhook_url": view["webhook_url"]}
    form = NoticesForm(request.POST if request.method == "POST" else None, initial=initial)
    if form.is_valid():
        try:
            services.account_update(account=account, **form.said())
            messages.success(request, "Saved.")
            return redirect("scheduling:notices")
        except AsyncEnergyError as error:
            take_error(form, error)
    context = {"section": "schedule", "form": form, "view": view, "notices": latest_notices(account)}
    return render(request, "scheduling/notices.html", context)


@require_POST
@account_page
def notices_test(request: HttpRequest, account: User) -> HttpResponse:
    wait = wait_s("mail", account=account.pk, address="")
    if wait is None:
        services.notice_test(account=account)
        messages.success(request, "A test is on its way; within a minute or so its line below says how it went.")
    else:
        messages.error(request, f"That were too many tests. Try again in {wait // 60 + 1} min.")
    return redirect("scheduling:notices")
