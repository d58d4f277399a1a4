"""Commands about the controller itself."""

import importlib.metadata

import typer
from rich.table import Table

from asyncenergy_controller.cli.console import show, show_json
from asyncenergy_controller.cli.options import Common, Json, takes
from asyncenergy_controller.settings import Settings


def version_text() -> str:
    return importlib.metadata.version("asyncenergy-controller")


def version(json: Json = False) -> None:
    """The version of this controller."""
    if json:
        show_json({"version": version_text()})
    else:
        show(version_text())


@takes(Common)
def config(ctx: typer.Context, options: Common, json: Json = False) -> None:
    """Every setting and its value. A flag wins over the environment, that over config.toml, that over the default."""
    settings = options.settings(ctx)
    values = settings.model_dump(mode="json")
    if json:
        show_json(values)
        return
    table = Table("setting", "value", "what it is", "variable")
    for name, field in Settings.model_fields.items():
        shown = "" if values[name] is None else str(values[name])
        table.add_row(name, shown, field.description or "", f"ASYNCENERGY_{name.upper()}")
    show(table)
