"""`bench`: the commands that measure."""

from collections.abc import Callable
from typing import Annotated

import typer

from asyncenergy_controller.bench import suites
from asyncenergy_controller.bench.plan import Plan, repeated
from asyncenergy_controller.bench.suites import sweep_plan
from asyncenergy_controller.cli import bench_runs, bench_share
from asyncenergy_controller.cli.options import Measuring, takes
from asyncenergy_controller.cli.planning import Choice, SweptSuite, adjusted, numbers, refuse_choices
from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Measure joules per correct answer, and share what was measured.")


def measure(ctx: typer.Context, options: Measuring, make_plan: Callable[[Settings], Plan]) -> None:
    """Loads numpy and scipy for those alone who measure: a daemon that shares this command line must stay small."""
    from asyncenergy_controller.cli import session

    session.measure(ctx, options, make_plan)


@app.command()
@takes(Measuring)
def smoke(ctx: typer.Context, options: Measuring) -> None:
    """40 of the easiest questions: one to two minutes, any model, nothing to download."""
    measure(ctx, options, lambda settings: adjusted(suites.SMOKE, options, settings))


@app.command()
@takes(Measuring)
def quick(ctx: typer.Context, options: Measuring) -> None:
    """Maths, knowledge, instructions, and a small power sweep: about 25 minutes on NVIDIA, 80 on a Mac."""
    measure(ctx, options, lambda settings: adjusted(suites.QUICK, options, settings))


@app.command()
@takes(Measuring)
def calibrate(ctx: typer.Context, options: Measuring) -> None:
    """15 questions at stock power and at the first cap: feeds predictions, never the leaderboard."""
    measure(ctx, options, lambda settings: adjusted(suites.CALIBRATE, options, settings))


@app.command()
@takes(Measuring)
def reference(ctx: typer.Context, options: Measuring) -> None:
    """100 questions to the pinned reference weights, which makes machines comparable; other weights are refused."""
    refuse_choices(options)
    measure(ctx, options, lambda settings: adjusted(suites.REFERENCE, options, settings))


@app.command()
@takes(Measuring)
@takes(Choice)
def run(
    ctx: typer.Context,
    options: Measuring,
    choice: Choice,
    repeats: Annotated[int, typer.Option(min=1, max=100, help="How often the whole is run.")] = 1,
) -> None:
    """One task, with everything about it chosen by you."""
    plan = Plan(suite="run", units=repeated([choice.unit()], repeats))
    measure(ctx, options, lambda settings: adjusted(plan, options, settings))


@app.command()
@takes(Measuring)
@takes(Choice)
def sweep(
    ctx: typer.Context,
    options: Measuring,
    choice: Choice,
    suite: Annotated[
        SweptSuite | None, typer.Option(help="Sweep the tasks of this suite instead of one --task.")
    ] = None,
    caps: Annotated[str, typer.Option(help="Power caps, as fractions of the factory default.")] = "0.85,0.75,0.65",
    clocks: Annotated[str, typer.Option(help="Clocks to lock, in MHz; needs --allow-clock-lock.")] = "",
    allow_clock_lock: Annotated[
        bool, typer.Option("--allow-clock-lock", help="Permit locking the GPU's clocks for the sweep.")
    ] = False,
) -> None:
    """One task, or a suite's, at stock power and under each power cap; with permission also at locked clocks."""
    if clocks and not allow_clock_lock:
        raise UsageError("--clocks locks the GPU's clocks while it runs; add --allow-clock-lock to permit that.")
    base = suites.NAMED[suite].units if suite else (choice.unit(),)
    plan = sweep_plan(base, caps=numbers("--caps", caps), clocks_mhz=numbers("--clocks", clocks))
    measure(ctx, options, lambda settings: adjusted(plan, options, settings))


bench_runs.register(app)
bench_share.register(app)
