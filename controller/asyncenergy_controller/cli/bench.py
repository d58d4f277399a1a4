"""`bench`: the commands that measure."""

from typing import Annotated

import typer

from asyncenergy_controller.bench import suites
from asyncenergy_controller.bench.plan import Plan, Thinking, Unit, repeated
from asyncenergy_controller.cli.options import Measuring, takes
from asyncenergy_controller.cli.planning import adjusted, setting_pairs
from asyncenergy_controller.cli.session import measure

app = typer.Typer(no_args_is_help=True, help="Measure joules per correct answer, and share what was measured.")


@app.command()
@takes(Measuring)
def smoke(ctx: typer.Context, options: Measuring) -> None:
    """40 of the easiest questions: one to two minutes, any model, nothing to download."""
    measure(ctx, options, lambda settings: adjusted(suites.SMOKE, options, settings))


@app.command()
@takes(Measuring)
def run(
    ctx: typer.Context,
    options: Measuring,
    task: Annotated[str, typer.Option(help="arith, gsm8k, gsm8k_platinum, mmlu_redux, ifeval, ...")] = "arith",
    level: Annotated[int | None, typer.Option(min=1, help="Difficulty, for arith.")] = None,
    n_shot: Annotated[int | None, typer.Option(min=0, help="Worked examples before each question.")] = None,
    thinking: Annotated[Thinking, typer.Option(help="Let the model think first.")] = "off",
    reasoning_effort: Annotated[str | None, typer.Option(help="low, medium, high, where the model knows it.")] = None,
    temperature: Annotated[float, typer.Option(min=0)] = 0.0,
    repeats: Annotated[int, typer.Option(min=1, help="How often the whole is run.")] = 1,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE: an engine setting to keep with the run.")
    ] = None,
) -> None:
    """One task, with everything about it chosen by you."""
    unit = Unit(
        task=task,
        n_items=40,
        level=level,
        n_shot=n_shot,
        thinking=thinking,
        reasoning_effort=reasoning_effort,
        temperature=temperature,
        settings=setting_pairs(set_ or ()),
    )
    plan = Plan(suite="run", units=repeated([unit], repeats))
    measure(ctx, options, lambda settings: adjusted(plan, options, settings))
