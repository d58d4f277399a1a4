"""Pages about scheduling that anybody may read."""

import re

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from scheduling.humantime import EXAMPLES

CERTIFICATE = settings.BASE_DIR / "docs" / "certificate.md"
_PROGRAM = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@require_safe
def quickstart(request: HttpRequest) -> HttpResponse:
    """From an account to the first night, with lines to paste."""
    context = {"section": "schedule", "address": request.build_absolute_uri("/").rstrip("/"), "examples": EXAMPLES}
    return render(request, "scheduling/quickstart.html", context)


@gzip_page
@require_safe
def how_it_works(request: HttpRequest) -> HttpResponse:
    """What the scheduler does and does not, what to expect of it, and how to check it."""
    return render(request, "scheduling/how_it_works.html", {"section": "schedule", "program": certificate_check()})


def certificate_check() -> str:
    """The program that checks a certificate, as the documentation has it."""
    found = _PROGRAM.search(CERTIFICATE.read_text(encoding="utf-8"))
    return found[1] if found else ""
