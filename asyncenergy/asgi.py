"""Entry of uvicorn."""

import os
from typing import cast

from django.conf import settings
from django.core.asgi import get_asgi_application

from asyncenergy.bodylimit import AsgiApp, AsgiBodyLimit
from asyncenergy.staticfiles import with_static_files

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "asyncenergy.settings")

site = cast(AsgiApp, get_asgi_application())

from api.mcp import with_mcp  # noqa: E402  # its tools need the models, which are there now

application = AsgiBodyLimit(with_mcp(with_static_files(site) if settings.EMBEDDED else site))
