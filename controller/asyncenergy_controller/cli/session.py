"""One benchmark from the command line: find engine and meter, run, keep, report, and end with the right code."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial

import typer

from asyncenergy_controller.bench.consent import require_consent
from asyncenergy_controller.bench.machine import engine_pids, node_entry
from asyncenergy_controller.bench.plan import Plan
from asyncenergy_controller.bench.power import UnitPower
from asyncenergy_controller.bench.projection import expectation
from asyncenergy_controller.bench.report import result_tables
from asyncenergy_controller.bench.results import RunResult, keep_result
from asyncenergy_controller.bench.runner import Bench, Loaded, Outcome, load_units, run_plan, weights_digest
from asyncenergy_controller.bench.sensor import known_sensor
from asyncenergy_controller.bench.store import RunDir, RunStore
from asyncenergy_controller.bench.suites import QUICK
from asyncenergy_controller.cli.console import say, show, show_json
from asyncenergy_controller.cli.options import Measuring
from asyncenergy_controller.cli.progress import ProgressBar
from asyncenergy_controller.cli.sending import send_run
from asyncenergy_controller.cli.signals import stopping_on_signals
from asyncenergy_controller.engine import EngineClient, EngineInfo, detect_engine
from asyncenergy_controller.errors import ExitCode, UsageError
from asyncenergy_controller.meters.base import Meter, MeterInfo
from asyncenergy_controller.meters.power_limit import put_back_ours
from asyncenergy_controller.meters.select import open_meter
from asyncenergy_controller.settings import Settings, revealed


def measure(ctx: typer.Context, options: Measuring, make_plan: Callable[[Settings], Plan]) -> None:
    """Run a fresh plan, or what is left of an unfinished one; raises typer.Exit where the code isn't 0."""
    settings = options.settings(ctx)
    if options.submit:
        require_consent(settings)
    plan = make_plan(settings)
    store = RunStore(settings.data_dir)
    unfinished = _unfinished(store, plan) if options.resume else None
    if unfinished:  # as it was planned; only the time limit is this start's own
        plan = unfinished.plan.model_copy(update={"time_limit_s": options.time_limit})
    outcome, result = _run(settings, plan, store, unfinished)
    _report(result, outcome, as_json=options.json)
    if options.submit and result.run.bundle_path.exists():
        send_run(settings, result.run)
    if code := _exit_code(outcome, result):
        raise typer.Exit(code)


def _unfinished(store: RunStore, plan: Plan) -> RunDir:
    run = store.latest_unfinished(plan.suite)
    if run is None:
        raise UsageError(f"There is no unfinished {plan.suite} run to resume; start one without --resume.")
    say(f"Resuming run {run.id} as it was planned.")
    return run


def _run(settings: Settings, plan: Plan, store: RunStore, unfinished: RunDir | None) -> tuple[Outcome, RunResult]:
    units = load_units(plan, settings.dataset_dir)
    with _open_engine(settings) as engine:
        info = engine.info(settings.model)
        info = replace(info, weights_digest=weights_digest(info))
        _require_pinned(plan, info)
        if unfinished:
            _require_same_weights(unfinished, info)
        meter = open_meter(
            settings.meter,
            settings.device,
            own_pids=engine_pids(engine.base_url),
            wall=settings.wall,
            wall_secret=revealed(settings.wall_secret),
        )
        with closing(meter), _take(store, plan, unfinished) as run:
            return _measured(settings, plan, units, run, engine, info, meter)


def _take(store: RunStore, plan: Plan, unfinished: RunDir | None) -> RunDir:
    if unfinished is None:
        return store.create(plan)
    unfinished.hold()
    unfinished.set_status("running")
    return unfinished


def _measured(
    settings: Settings,
    plan: Plan,
    units: list[Loaded],
    run: RunDir,
    engine: EngineClient,
    info: EngineInfo,
    meter: Meter,
) -> tuple[Outcome, RunResult]:
    known = meter.info()
    _introduce(run, info, known)
    if plan.suite == "quick" and not run.n_answered:
        say(expectation(plan, known.device_kind, QUICK.n_items))
    with ProgressBar(plan, simulated=known.energy_source == "simulated") as bar:
        bench = Bench(
            run=run,
            plan=plan,
            engine=engine,
            engine_info=info,
            meter=meter,
            node=node_entry(settings.config_dir, known),
            observer=bar,
            sensor=known_sensor(settings.data_dir, known),
            power=UnitPower(settings.power_journal_dir, settings.device, known, settings.power_cap_policy),
            sample_period_s=settings.sample_period_s,
        )
        with stopping_on_signals(bench.stop, partial(put_back_ours, settings.power_journal_dir)):
            outcome = run_plan(bench, units)
    run.set_status(outcome.state, outcome.reason)
    return outcome, keep_result(run)


def _introduce(run: RunDir, info: EngineInfo, known: MeterInfo) -> None:
    say(f"Run {run.id}: {info.model_basename} on {info.engine}, metered by {known.meter} ({known.device_name or '-'}).")
    if known.energy_source == "simulated":
        say("The energy is SIMULATED: invented for demonstration, never published as measured.")
    if known.energy_source is None:
        say(f"Energy is not measured: {'; '.join(known.reasons.values())}. Accuracy and speed are.")


def _open_engine(settings: Settings) -> EngineClient:
    urls = [settings.engine_url] if settings.engine_url else None
    return detect_engine(urls, timeout_s=settings.request_timeout_s, api_key=revealed(settings.engine_api_key))


def _require_pinned(plan: Plan, info: EngineInfo) -> None:
    found = (info.model_basename, info.quantization, info.engine)
    pinned = plan.pinned
    if pinned is None or found == (pinned.model, pinned.quantization, pinned.engine):
        return
    raise UsageError(
        f"The {plan.suite} suite compares machines, so it runs {pinned.model} {pinned.quantization} on {pinned.engine} "
        f"and nothing else; the engine serves {info.model_basename} {info.quantization} on {info.engine}. "
        f"Load {pinned.source}, or use `bench run`."
    )


def _require_same_weights(run: RunDir, info: EngineInfo) -> None:
    """One task, half of it answered by each of two models, would be a result of neither."""
    begun = {(part.header["engine"]["model_basename"], part.header["engine"]["quantization"]) for part in run.parts()}
    others = begun - {(info.model_basename, info.quantization)}
    if others:
        said = ", ".join(" ".join(filter(None, other)) for other in sorted(others, key=str))
        raise UsageError(
            f"Run {run.id} was begun with {said}, and the engine serves {info.model_basename} "
            f"{info.quantization or ''}".rstrip()
            + ". Load what it was begun with, or start a new run without --resume."
        )


def _report(result: RunResult, outcome: Outcome, *, as_json: bool) -> None:
    if as_json:
        show_json(result.as_dict())
    else:
        for table in result_tables(result):
            show(table)
    if outcome.reason:
        say(f"{outcome.state.capitalize()}: {outcome.reason}")
    if outcome.state != "finished":
        say(f"What was measured is kept. Go on with `bench {result.run.plan.suite} --resume`.")
    say(result.no_bundle or f"To publish it: async-energy-controller bench submit {result.run.id}")
    say(f"Kept in {result.run.path}")


def _exit_code(outcome: Outcome, result: RunResult) -> ExitCode:
    if outcome.exit_code is not ExitCode.OK:
        return outcome.exit_code
    return ExitCode.OK if result.energy_was_measured or not result.parts else ExitCode.NO_METER
