"""The account's dashboard."""

from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.models import User
from asyncenergy import clock
from scheduling.pages import tonight as pages
from scheduling.pages.savings import ledgers
from scheduling.selectors.savings import savings_by_month
from scheduling.selectors.tonight import tonight as find_tonight
from scheduling.selectors.workflows import controller_states, workflows_of_unknown_controllers
from scheduling.views.access import account_page


@require_safe
@account_page
def tonight(request: HttpRequest, account: User) -> HttpResponse:
    """Tonight's prices with the placements on them, what does not fit, what was saved, which boxes are in touch."""
    now, zone = clock.now(), ZoneInfo(account.timezone)
    found = find_tonight(account, now)
    context = pages.context(found, zone, now, whole="whole" in request.GET)
    more = {
        "ledgers": ledgers(savings_by_month(account)),
        "states": controller_states(account, now),
        "unmatched": workflows_of_unknown_controllers(account),
    }
    return render(request, "scheduling/tonight.html", {"section": "schedule", **context, **more})
