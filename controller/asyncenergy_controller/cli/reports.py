"""`reports`: what waits for the server, and what it would not take."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from asyncenergy_controller.cli.console import say, show, show_json
from asyncenergy_controller.cli.options import Common, Json, takes
from asyncenergy_controller.errors import ExitCode
from asyncenergy_controller.reporting import Drained, Spool, open_spool
from asyncenergy_controller.server import ServerClient
from asyncenergy_controller.settings import Settings


@takes(Common)
def reports(
    ctx: typer.Context,
    options: Common,
    send: Annotated[bool, typer.Option("--send", help="Send what waits now.")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Send what the server refused again, too.")] = False,
    json: Json = False,
) -> None:
    """Show the reports of runs that wait for the server, and those it refused, with its words."""
    settings = options.settings(ctx)
    spool = open_spool(settings)
    if retry:
        say(f"Refused, and sent again: {spool.retry_set_aside()}")
    drained = _sent(settings, spool) if send or retry else None
    if json:
        show_json(_as_dict(spool, drained))
    else:
        _tell(spool)
    if drained and drained.problem:
        say(drained.problem)
        raise typer.Exit(ExitCode.SERVER)


def _sent(settings: Settings, spool: Spool) -> Drained:
    with ServerClient(settings) as server:
        return spool.drain(server, at_once=True)


def _tell(spool: Spool) -> None:
    counts = spool.counts()
    show(f"Waiting: runs {counts.runs}, messages {counts.acks}, samples {counts.samples}, in {spool.path}")
    show(f"Refused: {counts.set_aside}")
    for aside in spool.set_aside():
        show(f"  {aside.kind} {aside.key}: {aside.reason}")


def _as_dict(spool: Spool, drained: Drained | None) -> dict[str, Any]:
    return {
        "waiting": asdict(spool.counts()),
        "refused": [asdict(aside) for aside in spool.set_aside()],
        "sent": drained.sent if drained else None,
        "problem": drained.problem if drained else None,
        "path": str(spool.path),
    }
