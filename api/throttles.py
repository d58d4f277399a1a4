"""How often one caller may call: counted by account where one is known, else by address."""

from typing import TYPE_CHECKING, Any

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from asyncenergy.throttle import wait_s

if TYPE_CHECKING:
    from rest_framework.views import APIView  # it imports this module by name


class CallThrottle(BaseThrottle):
    """Counts under the view's `throttle_scope`, one of settings.THROTTLES; DRF's own counters lose parallel calls."""

    waiting_s: int | None = None

    def allow_request(self, request: Request, view: "APIView") -> bool:
        scope: Any = getattr(view, "throttle_scope", None) or "calls"
        account = request.user.pk if request.user and request.user.is_authenticated else None
        self.waiting_s = wait_s(scope, account=account, address=self.get_ident(request))
        return self.waiting_s is None

    def wait(self) -> float | None:
        return self.waiting_s
