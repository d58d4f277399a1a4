"""`bench`: the commands that look at what was measured."""

from typing import Annotated, Any

import typer
from rich.table import Column, Table

from asyncenergy_controller.bench.numbers import number
from asyncenergy_controller.bench.store import RunDir, RunStore
from asyncenergy_controller.bench.uploads import Uploads
from asyncenergy_controller.cli.console import say, show, show_json
from asyncenergy_controller.cli.options import Common, Json, takes
from asyncenergy_controller.files import read_json


def register(app: typer.Typer) -> None:
    """Add these commands to `bench`."""
    app.command("list")(list_runs)
    app.command("show")(show_run)


@takes(Common)
def list_runs(ctx: typer.Context, options: Common, json: Json = False) -> None:
    """All runs on this machine, newest first."""
    settings = options.settings(ctx)
    uploads = Uploads(settings.data_dir, settings.api_url)
    rows = [_summary(run, uploads) for run in RunStore(settings.data_dir).all()]
    if json:
        show_json(rows)
    elif rows:
        show(_table(rows))
    else:
        say("There are no runs yet; `async-energy-controller bench smoke` makes one.")


def _summary(run: RunDir, uploads: Uploads) -> dict[str, Any]:
    state, reason = run.status
    kept = run.path / "run.json"
    parts = read_json(kept)["runs"] if kept.exists() else []
    bundle = run.bundle_path
    return {
        "run_id": run.id,
        "suite": run.plan.suite,
        "state": state,
        "reason": reason,
        "n_items": sum(part["figures"]["n_items"] for part in parts) if parts else run.n_answered,
        "n_planned": run.plan.n_items,
        "models": sorted({part["model"] for part in parts}),
        "joules_per_correct_answer": [part["figures"]["joules_per_correct_answer"] for part in parts],
        "simulated": any(part["simulated"] for part in parts),
        "upload": uploads.state_of(bundle.read_bytes()) if bundle.exists() else None,
    }


def _table(rows: list[dict[str, Any]]) -> Table:
    whole = [Column(name, no_wrap=True) for name in ("run", "suite", "state", "asked")]
    folding = [Column(name, overflow="fold", min_width=9) for name in ("model", "J/correct", "upload")]
    table = Table(*whole, *folding, box=None, padding=(0, 2, 0, 0))
    for row in rows:
        word = " simulated" if row["simulated"] else ""
        table.add_row(
            row["run_id"],
            row["suite"],
            row["state"],
            f"{row['n_items']}/{row['n_planned']}",
            ", ".join(row["models"]),
            ", ".join(map(number, row["joules_per_correct_answer"])) + word,
            row["upload"] or "-",
        )
    return table


@takes(Common)
def show_run(
    ctx: typer.Context,
    options: Common,
    run: Annotated[str, typer.Argument(help="Id of a run, or a unique part of it; `last` is the newest.")] = "last",
    json: Json = False,
) -> None:
    """The figures of one run, computed from what is on disk; also of one that was interrupted."""
    from asyncenergy_controller.bench.report import result_tables  # loads numpy, which `list` has no use for
    from asyncenergy_controller.bench.results import read_result

    result = read_result(RunStore(options.settings(ctx).data_dir).find(run))
    if json:
        show_json(result.as_dict())
        return
    for table in result_tables(result):
        show(table)
    state, reason = result.run.status
    say(f"{state.capitalize()}{f': {reason}' if reason else ''}. Kept in {result.run.path}")
