"""Every command by its name. Its module is loaded when it is called: the loop carries no other all day."""

from importlib import import_module
from typing import Any

import typer

COMMANDS = {
    "run": "run.run",
    "register": "register.register",
    "reports": "reports.reports",
    "service": "service.app",
    "bench": "bench.app",
    "doctor": "doctor.doctor",
    "meter-check": "meter_check.meter_check",
    "config": "config.config",
    "login": "account.login",
    "signup": "account.signup",
    "logout": "account.logout",
    "version": "about.version",
}


def loaded(name: str) -> Any:
    """The command of that name, with what it needs."""
    module, attribute = COMMANDS[name].split(".")
    found = getattr(import_module(f"{__package__}.{module}"), attribute)
    command = typer.main.get_command(found if isinstance(found, typer.Typer) else _alone(name, found))
    command.name = name
    return command


def _alone(name: str, function: Any) -> typer.Typer:
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(name)(function)
    return app
