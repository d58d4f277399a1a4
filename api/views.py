"""What all views of the API share."""

from collections.abc import Collection, Sequence
from typing import Any, ClassVar, cast

from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.models import User
from api.parameters import refuse_unknown_parameters


class ApiView(APIView):
    """A view for accounts. Reads take the parameters in `query_parameters`, and no other.

    `required_scope` names the scope of the API keys that open it (bench, schedule); without one no key does.
    """

    query_parameters: ClassVar[Collection[str]] = ()
    required_scope: ClassVar[str | None] = None
    throttle_scope: ClassVar[str] = "calls"
    pagination_class: ClassVar[type[BasePagination] | None] = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method in ("GET", "HEAD"):
            refuse_unknown_parameters(request.query_params, self.query_parameters)

    @property
    def account(self) -> User:
        return cast(User, self.request.user)


class PublicView(ApiView):
    """A view for everybody. No credentials are looked at, so that none can change the answer."""

    authentication_classes: Sequence[Any] = ()
    permission_classes: Sequence[Any] = ()
