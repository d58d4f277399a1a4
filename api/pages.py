"""The page of the API for people."""

import json
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from api import reference
from api.schema import schema_json


@gzip_page
@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Every call with its parameters and answers, from the same document that programs read."""
    return render(request, "api/docs.html", {"section": "measure", **_reference()})


@cache
def _reference() -> dict[str, Any]:
    """The document is the same for the life of the process."""
    document = json.loads(schema_json())
    return {"sections": reference.sections(document), "shapes": reference.shapes(document)}
