"""`doctor`: what this machine can measure, and how well."""

from typing import Annotated

import typer

from asyncenergy_controller.bench.sensor import keep_sensor
from asyncenergy_controller.cli.console import say, show, show_json
from asyncenergy_controller.cli.options import Json, Machine, takes


@takes(Machine)
def doctor(
    ctx: typer.Context,
    options: Machine,
    seconds: Annotated[float, typer.Option(min=0.1, help="Length of each measured window.")] = 5.0,
    json: Json = False,
) -> None:
    """What this machine can measure and how well, one line each with what to do. The result goes into each bundle."""
    from asyncenergy_controller.doctor import Check, examine  # loads numpy, which the daemon does without

    def tell(check: Check) -> None:
        (say if json else show)(str(check))

    settings = options.settings(ctx)
    report = examine(settings, seconds, tell)
    keep_sensor(settings.data_dir, report.sensor)
    if json:
        show_json(report.as_dict())
    if report.exit_code:
        raise typer.Exit(report.exit_code)
