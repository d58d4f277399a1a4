"""The controller as a service of this machine."""

from dataclasses import asdict
from typing import Annotated

import typer

from asyncenergy_controller.cli.console import say, show, show_json
from asyncenergy_controller.cli.options import Common, Json, takes
from asyncenergy_controller.errors import ExitCode, UsageError
from asyncenergy_controller.service.installing import install as install_unit
from asyncenergy_controller.service.installing import only_in_this_shell, planned_unit, service_user
from asyncenergy_controller.service.installing import uninstall as uninstall_unit
from asyncenergy_controller.service.status import Facts, checks, gather, log_command
from asyncenergy_controller.service.units import Scope, Unit, unit_path
from asyncenergy_controller.settings import origins

app = typer.Typer(no_args_is_help=True, help="Run the controller in the background, also while nobody is logged in.")
System = Annotated[bool, typer.Option("--system", help="The machine's unit instead of your own; needs root.")]


@app.command()
@takes(Common)
def install(
    ctx: typer.Context,
    options: Common,
    system: System = False,
    run_as: Annotated[str | None, typer.Option(help="With --system: whose jobs it runs; under sudo, yours.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the unit and change nothing.")] = False,
) -> None:
    """Write the unit of systemd, start it, and keep it running after logout. Once more writes it anew."""
    if run_as and not system:
        raise UsageError("--run-as goes with --system: your own unit runs as you.")
    settings, found = options.settings(ctx), origins(**options.given(ctx))
    unit = planned_unit("system" if system else "user", settings, found, run_as)
    if dry_run:
        say(f"{unit.path} would hold, and systemd would enable and start:")
        show(unit.text().rstrip())
        return
    for done in install_unit(unit):
        say(done)
    _warn_of_shell(unit, only_in_this_shell(found))
    _report(gather(unit.scope, unit.user), json=False)


@app.command()
def uninstall(system: System = False) -> None:
    """Stop the service and remove its unit; settings, records and logs stay."""
    for done in uninstall_unit("system" if system else "user"):
        say(done)


@app.command()
def status(system: System = False, json: Json = False) -> None:
    """Whether it is installed, starts by itself, runs, and outlives a logout; what is wrong, and what to do."""
    scope: Scope = "system" if system or _only_system() else "user"
    _report(gather(scope, service_user(scope)), json=json)


def _only_system() -> bool:
    return unit_path("system").exists() and not unit_path("user").exists()


def _report(facts: Facts, *, json: bool) -> None:
    found = checks(facts)
    if json:
        show_json({"scope": facts.scope, "checks": [asdict(check) for check in found]})
    else:
        for check in found:
            show(str(check))
        say(f"Its log: `{log_command(facts.scope)}`")
    if any(check.state == "fail" for check in found):
        raise typer.Exit(ExitCode.FAILED)


def _warn_of_shell(unit: Unit, variables: list[str]) -> None:
    if variables:
        say(
            f"The service does not see {', '.join(variables)}, which only this shell has: write them to config.toml, "
            f"or as NAME=value lines to {unit.environment_file} (chmod 600)."
        )
