"""What is set, and who set it."""

import typer
from rich.table import Column, Table

from asyncenergy_controller.cli.console import say, show, show_json
from asyncenergy_controller.cli.options import Common, Json, takes
from asyncenergy_controller.settings import CONFIG_FILE, Origin, Settings, origins


@takes(Common)
def config(ctx: typer.Context, options: Common, json: Json = False) -> None:
    """Every setting, its value and where it came from: flag, environment, config.toml or default, the first of them."""
    settings = options.settings(ctx)
    values = settings.model_dump(mode="json")
    found = origins(**options.given(ctx))
    if json:
        show_json({name: {"value": values[name], "from": found[name].kind, "name": found[name].name} for name in found})
        return
    table = Table("setting", Column("value", overflow="fold"), Column("from", overflow="fold"), "what it is")
    for name, field in Settings.model_fields.items():
        shown = "" if values[name] is None else str(values[name])
        table.add_row(name, shown, _words(found[name]), field.description or "")
    show(table)
    file = settings.config_dir / CONFIG_FILE
    say(f"{file} {'is read' if file.exists() else 'does not exist'}; each setting's variable is ASYNCENERGY_<SETTING>.")


def _words(origin: Origin) -> str:
    return CONFIG_FILE if origin.kind == "file" else origin.name or origin.kind
