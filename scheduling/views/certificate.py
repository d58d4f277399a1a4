"""The proof of a plan, as a file to keep or to hand on."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from accounts.models import User
from scheduling.errors import NotFound
from scheduling.selectors.schedule import certificate_of
from scheduling.views.access import account_page


@require_safe
@account_page
def certificate(request: HttpRequest, account: User, number: int) -> HttpResponse:
    found = certificate_of(account, number)
    if found is None:
        raise NotFound("plan")
    name = f"async-energy-plan-{number}.json"
    return JsonResponse(found, headers={"Content-Disposition": f'attachment; filename="{name}"'})
