"""`run`: the loop, which is also what the bare command does."""

import signal
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from asyncenergy_controller import clock
from asyncenergy_controller.cli.console import show, show_json
from asyncenergy_controller.cli.options import Common, Json, takes
from asyncenergy_controller.cli.until_signal import until_signal
from asyncenergy_controller.errors import ExitCode, UsageError
from asyncenergy_controller.identity import controller_id
from asyncenergy_controller.loop.assembly import AlreadyRunning, assembled
from asyncenergy_controller.loop.check import Row, check_rows, exit_code
from asyncenergy_controller.meters.power_limit import put_back_ours
from asyncenergy_controller.server import ServerClient
from asyncenergy_controller.service.journal import configure_logging
from asyncenergy_controller.settings import Settings


@dataclass(frozen=True)
class Looping(Common):
    """Options of the loop that are settings as well."""

    job_catalog: Annotated[Path | None, typer.Option(help="The jobs.json of what may run here.")] = None
    poll_interval_s: Annotated[
        float | None, typer.Option("--poll-interval", min=0.1, help="Seconds between two looks at the schedule.")
    ] = None
    meter: Annotated[str | None, typer.Option(help="auto, nvml, nvidia-smi, amd, apple, rapl, simulated, null.")] = None
    device: Annotated[str | None, typer.Option(help="GPU by index, GPU-... or MIG-...")] = None
    wall: Annotated[str | None, typer.Option(help="Wall plug to read as well: shelly:192.168.1.20, ...")] = None


@takes(Looping)
def run(
    ctx: typer.Context,
    options: Looping,
    once: Annotated[bool, typer.Option("--once", help="Run what is due now, then end: for cron.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Run nothing; say what will run and what never will.")] = False,
    watch_catalog: Annotated[
        bool,
        typer.Option(
            "--watch-catalog",
            help="Look at the catalog every second and say at once what is wrong with an edit. Without this it is "
            "read anew at every poll and before every start.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Run your jobs when the schedule says so, each once, and report them. The bare command does the same.

    --check ends with 0 where all is well, 1 where something will never run, 2 where a file is wrong, 4 where the
    server can't be asked.
    """
    settings = options.settings(ctx)
    if once and check:
        raise UsageError("--once runs and --check does not; give one of them.")
    if json and not check:
        raise UsageError("--json goes with --check.")
    if check:
        code = _check(settings, json=json)
    else:
        code = _once(settings) if once else _forever(settings, watch_catalog=watch_catalog)
    if code:
        raise typer.Exit(code)


def _forever(settings: Settings, *, watch_catalog: bool) -> ExitCode:
    configure_logging()
    with assembled(settings, watch_catalog=watch_catalog) as daemon:
        put_back = partial(put_back_ours, settings.power_journal_dir)
        _, number = until_signal(daemon.run_forever, daemon.stop, put_back)
    return ExitCode.INTERRUPTED if number == signal.SIGINT else ExitCode.OK


def _once(settings: Settings) -> ExitCode:
    """A job may take longer than cron waits: that another round is at work is no failure."""
    configure_logging()
    try:
        with assembled(settings) as daemon:
            line, number = until_signal(
                daemon.run_once, daemon.stop, partial(put_back_ours, settings.power_journal_dir)
            )
    except AlreadyRunning:
        show("another controller works here, and this one leaves it alone")
        return ExitCode.OK
    show(line)
    return ExitCode.INTERRUPTED if number == signal.SIGINT else daemon.exit_code


def _check(settings: Settings, *, json: bool) -> ExitCode:
    with ServerClient(settings, attempts=1) as client:
        rows = []
        for row in check_rows(settings, client, controller_id(settings), clock.now()):
            rows.append(row)
            if not json:
                show(_line(row))
    if json:
        show_json([asdict(row) for row in rows])
    return exit_code(rows)


def _line(row: Row) -> str:
    return f"{row.state:6}  {row.name}: {row.found}" + (f"\n        -> {row.advice}" if row.advice else "")
