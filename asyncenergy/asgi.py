"""Entry of uvicorn."""

import os
from typing import cast

from django.conf import settings
from django.core.asgi import get_asgi_application

from asyncenergy.bodylimit import AsgiApp, AsgiBodyLimit
from asyncenergy.staticfiles import with_static_files

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "asyncenergy.settings")

site = cast(AsgiApp, get_asgi_application())
application = AsgiBodyLimit(with_static_files(site) if settings.EMBEDDED else site)
