"""Static files under uvicorn: read from where Django finds them, never stale.

Django hands a file on as a synchronous stream, which an ASGI server can only buffer whole, with a warning.
"""

import os
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.exceptions import SuspiciousFileOperation
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from asyncenergy.bodylimit import AsgiApp, Receive, Send


class FoundFiles(StaticFiles):
    """The files of all apps and folders. A browser asks each time, and gets a 304 while nothing has changed."""

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        try:
            found = finders.find(path)
        except SuspiciousFileOperation:  # a path that leads out of the folders
            found = None
        return (found, Path(found).stat()) if found else ("", None)

    def file_response(
        self, full_path: Any, stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers.update({"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"})
        return response


def with_static_files(app: AsgiApp) -> AsgiApp:
    """Answer what lies under STATIC_URL, and hand on everything else."""
    files = Starlette(
        routes=[Mount(settings.STATIC_URL.rstrip("/"), app=FoundFiles())],
        middleware=[Middleware(GZipMiddleware, minimum_size=1000)],
    )

    async def serve(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        is_static = scope["type"] == "http" and scope["path"].startswith(settings.STATIC_URL)
        await (files if is_static else app)(scope, receive, send)

    return serve
