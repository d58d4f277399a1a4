"""The page of the API for people."""

import json

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
    document = json.loads(schema_json())
    context = {"section": "measure", "sections": reference.sections(document), "shapes": reference.shapes(document)}
    return render(request, "api/docs.html", context)
