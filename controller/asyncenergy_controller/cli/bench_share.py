"""`bench`: consent, and sending what was measured."""

from pathlib import Path
from typing import Annotated, Any

import typer

from asyncenergy_controller.bench import consent
from asyncenergy_controller.bench.store import RunDir, RunStore
from asyncenergy_controller.bench.uploads import Uploads
from asyncenergy_controller.cli.console import say, show, show_json
from asyncenergy_controller.cli.options import Common, Json, takes
from asyncenergy_controller.cli.sending import send_bundle
from asyncenergy_controller.errors import ControllerError, ExitCode, UsageError
from asyncenergy_controller.settings import Settings
from asyncenergy_controller.wire import CONSENT_TEXT, WireError, check_json_bytes, parse_bundle, refuse_private


def register(app: typer.Typer) -> None:
    """Add these commands to `bench`."""
    app.command("opt-in")(opt_in)
    app.command("opt-out")(opt_out)
    app.command("submit")(submit)


@takes(Common)
def opt_in(ctx: typer.Context, options: Common) -> None:
    """Agree that the runs you submit are published. Prints the whole text; the command is the agreement."""
    settings = options.settings(ctx)
    show(CONSENT_TEXT)
    consent.opt_in(settings.config_dir)
    say("You have opted in. Nothing is sent before you submit a run; `bench opt-out` takes it back.")


@takes(Common)
def opt_out(ctx: typer.Context, options: Common) -> None:
    """Take the agreement back: nothing is sent any more. What was published can be withdrawn on the site."""
    had = consent.opt_out(options.settings(ctx).config_dir)
    say("You have opted out; nothing will be sent." if had else "You had not opted in; nothing was or will be sent.")


@takes(Common)
def submit(
    ctx: typer.Context,
    options: Common,
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE|RUN]...", help="Bundles, run ids or `last`; without any, what failed before."),
    ] = None,
    json: Json = False,
) -> None:
    """Send bundles. One that fails is kept and sent again by `bench submit`; the server stores it once."""
    settings = options.settings(ctx)
    consent.require_consent(settings)
    bundles = [_bundle(target, settings) for target in targets or ()]
    if not targets:
        bundles = Uploads(settings.data_dir, settings.api_url).pending()
        nothing = "No failed upload is waiting; `bench submit last` sends the newest run."
        say(f"{len(bundles)} waiting." if bundles else nothing)
    outcomes = [_send(settings, raw) for raw in bundles]
    if json:
        show_json(outcomes)
    if any(outcome["error"] for outcome in outcomes):
        raise typer.Exit(ExitCode.SERVER)


def _send(settings: Settings, raw: bytes) -> dict[str, Any]:
    """One failure doesn't keep the others from being sent."""
    uploads = Uploads(settings.data_dir, settings.api_url)
    error = answer = None
    try:
        answer = send_bundle(settings, raw).answer
    except ControllerError as failed:
        error = failed.message
        say(error)
    return {"upload": uploads.key(raw), "state": uploads.state_of(raw), "answer": answer, "error": error}


def _bundle(target: str, settings: Settings) -> bytes:
    """The checked bytes of a bundle file, or of a run's bundle. Raises UsageError."""
    path = Path(target)
    if path.is_file():
        return _checked(path)
    run = RunDir(path) if (path / "plan.json").exists() else RunStore(settings.data_dir).find(target)
    if not run.bundle_path.exists():
        _make_bundle(run)
    return _checked(run.bundle_path)


def _make_bundle(run: RunDir) -> None:
    """For a run whose process was killed before it could."""
    from asyncenergy_controller.bench.results import keep_result  # loads numpy, which sending has no use for

    if why := keep_result(run).no_bundle:
        raise UsageError(why)


def _checked(path: Path) -> bytes:
    raw = path.read_bytes()
    try:
        body = check_json_bytes(raw)
        refuse_private(body)
        parse_bundle(body)
    except WireError as error:
        raise UsageError(f"{path} is no bundle that can be sent: {error.detail}") from error
    return raw
