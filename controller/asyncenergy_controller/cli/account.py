"""Account commands: who is submitting."""

from typing import Annotated

import typer

from asyncenergy_controller.cli.console import say
from asyncenergy_controller.cli.options import Common, takes
from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.server import LoginFile, ServerClient
from asyncenergy_controller.settings import Settings

Email = Annotated[str | None, typer.Option(help="E-mail of your account (or ASYNCENERGY_EMAIL).")]


@takes(Common)
def login(ctx: typer.Context, options: Common, email: Email = None) -> None:
    """Log in; the password comes from ASYNCENERGY_PASSWORD, or is asked for. Not needed with an API key."""
    settings = options.settings(ctx)
    with ServerClient(settings) as server:
        kept = server.login(*_credentials(settings, email))
    say(f"Logged in at {kept.api_url} as {kept.email}.")


@takes(Common)
def signup(ctx: typer.Context, options: Common, email: Email = None) -> None:
    """Make an account at the server and log in."""
    settings = options.settings(ctx)
    with ServerClient(settings) as server:
        kept = server.signup(*_credentials(settings, email))
    say(f"Signed up at {kept.api_url} as {kept.email}.")


@takes(Common)
def logout(ctx: typer.Context, options: Common) -> None:
    """Forget the login kept on this machine."""
    had = LoginFile(options.settings(ctx).config_dir).forget()
    say("Logged out." if had else "You were not logged in.")


def _credentials(settings: Settings, email: str | None) -> tuple[str, str]:
    email = email or settings.email
    if not email:
        raise UsageError("Whose account? Give --email or set ASYNCENERGY_EMAIL.")
    if settings.password:
        return email, settings.password.get_secret_value()
    return email, str(typer.prompt(f"Password of {email}", hide_input=True, err=True))
