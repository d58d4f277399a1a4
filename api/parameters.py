"""Query strings: an unknown parameter is a 400, because a typing error would otherwise look like an answer."""

from collections.abc import Collection

from django.http import QueryDict
from rest_framework.exceptions import ValidationError


def refuse_unknown_parameters(query: QueryDict, known: Collection[str]) -> None:
    unknown = sorted(set(query) - set(known))
    if unknown:
        takes = f"This address takes {', '.join(sorted(known))}." if known else "This address takes no parameters."
        raise ValidationError({name: [f"Unknown parameter. {takes}"] for name in unknown}, code="unknown_parameter")
