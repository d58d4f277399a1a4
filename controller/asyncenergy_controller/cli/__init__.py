"""The command line: parse, call, print. Results on stdout, talk on stderr."""

from pathlib import Path
from typing import Annotated, Any

import stamina.instrumentation
import typer
from typer.core import TyperGroup

from asyncenergy_controller.cli.commands import COMMANDS, loaded
from asyncenergy_controller.cli.console import say
from asyncenergy_controller.cli.healing import heal
from asyncenergy_controller.errors import ControllerError, ExitCode
from asyncenergy_controller.settings import load_settings

__all__ = ["app", "main"]

DEFAULT_COMMAND = "run"


class _Root(TyperGroup):
    """Without a command, it is `run`. One that raised an error of ours ends with its sentence and its exit code."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own = {name for option in self.get_params(ctx) if not option.expose_value for name in option.opts}
        is_bare = all(arg.startswith("-") for arg in args[:1]) and not own.union(COMMANDS).intersection(args)
        return super().parse_args(ctx, [DEFAULT_COMMAND, *args] if is_bare else args)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return loaded(cmd_name) if cmd_name in COMMANDS else None

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ControllerError as error:
            say(error.message)
            raise typer.Exit(error.exit_code) from error
        except BrokenPipeError:
            raise  # the reader of our output went away, which typer knows how to end
        except OSError as error:  # no space, no permission: the system's own words name the file
            say(f"{error}. What was written before is kept; --data-dir and --config-dir choose other places.")
            raise typer.Exit(ExitCode.FAILED) from error


app = typer.Typer(
    cls=_Root,
    pretty_exceptions_enable=False,
    help="Runs your AI work in its cheapest hours and measures what it takes. Without a command it runs the loop.",
    epilog=(
        "Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no meter, 4 the server did not take it, 5 no engine, "
        "130 interrupted."
    ),
)


@app.callback()
def options(
    ctx: typer.Context,
    data_dir: Annotated[Path | None, typer.Option(help="Where runs and uploads are kept.")] = None,
    config_dir: Annotated[Path | None, typer.Option(help="Where config.toml, consent and login are kept.")] = None,
    api_url: Annotated[str | None, typer.Option(help="The Async Energy server.")] = None,
) -> None:
    """Options before the command hold for it as well."""
    ctx.obj = {"data_dir": data_dir, "config_dir": config_dir, "api_url": api_url}
    if not ctx.resilient_parsing:
        heal(load_settings(**ctx.obj))


def main() -> None:
    """Entry point of `async-energy-controller`."""
    stamina.instrumentation.set_on_retry_hooks([])
    app()
