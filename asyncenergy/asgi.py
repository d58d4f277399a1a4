"""Entry of uvicorn."""

import os
from typing import cast

from django.core.asgi import get_asgi_application

from asyncenergy.bodylimit import AsgiApp, AsgiBodyLimit

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "asyncenergy.settings")

application = AsgiBodyLimit(cast(AsgiApp, get_asgi_application()))
