"""Commands about the controller itself."""

import importlib.metadata

from asyncenergy_controller.cli.console import show, show_json
from asyncenergy_controller.cli.options import Json


def version_text() -> str:
    return importlib.metadata.version("asyncenergy-controller")


def version(json: Json = False) -> None:
    """The version of this controller."""
    if json:
        show_json({"version": version_text()})
    else:
        show(version_text())
