"""Pages of lists: `limit` (at most 500) and `offset`."""

from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response

PAGE_PARAMETERS = ("limit", "offset")
MOST_DIGITS = 10


class Pagination(LimitOffsetPagination):
    """`{count, next, previous, results}`. A limit over 500 gives 500; one that is no number is refused."""

    default_limit = 100
    max_limit = 500

    def get_limit(self, request: Request) -> int:
        limit = _whole_number(request, "limit", self.default_limit, lowest=1)
        return min(limit, self.max_limit)

    def get_offset(self, request: Request) -> int:
        return _whole_number(request, "offset", 0, lowest=0)


class PublicPagination(Pagination):
    """`{count, next, previous, data_version, results}`; the view tells the version of the data it shows."""

    def get_paginated_response(self, data: Any, data_version: str | None = None) -> Response:
        return Response(
            {
                "count": self.count,
                "next": self.get_next_link(),
                "previous": self.get_previous_link(),
                "data_version": data_version,
                "results": data,
            }
        )

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        page = super().get_paginated_response_schema(schema)
        page["properties"]["data_version"] = {"type": "string", "nullable": True}
        page["required"] = ["count", "next", "previous", "data_version", "results"]
        return page


def _whole_number(request: Request, name: str, default: int, *, lowest: int) -> int:
    value = request.query_params.get(name)
    if value is None:
        return default
    is_short = len(value) <= MOST_DIGITS  # Python refuses to read a number of thousands of digits
    if not (is_short and value.isascii() and value.isdigit() and lowest <= int(value) < 2**31):
        message = f"{value[:40]!r} is no whole number from {lowest} on."
        raise ValidationError({name: [message]}, code="invalid_parameter")
    return int(value)
