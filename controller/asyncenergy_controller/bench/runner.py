"""Runs a plan: for each unit the phases of the ledger, metered without a break, and every line kept as it comes."""

import hashlib
import time
from collections.abc import Iterator
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from asyncenergy_controller import clock
from asyncenergy_controller.bench.asking import Asker, ask_all
from asyncenergy_controller.bench.plan import Plan, Unit, item_order
from asyncenergy_controller.bench.power import UnitPower, UnitSkipped
from asyncenergy_controller.bench.stop import StopFlag
from asyncenergy_controller.bench.store import ItemRow, PartWriter, RunDir, State
from asyncenergy_controller.bench.thermal import ThermalGuard
from asyncenergy_controller.engine import EngineClient, EngineInfo
from asyncenergy_controller.errors import ControllerError, ExitCode
from asyncenergy_controller.meters.base import Meter, Reading
from asyncenergy_controller.sampler import Sampler
from asyncenergy_controller.tasks.base import Item, Task
from asyncenergy_controller.tasks.registry import get_task

WARMUP_TOKENS = 32
LIMITS = ("power_limit_w", "stock_power_limit_w")
LIMIT_SLACK_W = 1.0


class LimitChanged(ControllerError):
    """Somebody changed the card's power limit while a unit was measured: it belongs to neither limit."""


class Observer(Protocol):
    """Is told what happens, for a person to see."""

    def unit_started(self, position: int, unit: Unit, done: int) -> None: ...
    def phase(self, name: str, seconds: float) -> None: ...
    def item_done(self, row: ItemRow, energy_j: float | None) -> None: ...
    def note(self, text: str) -> None: ...


@dataclass(frozen=True)
class Loaded:
    """A unit with its data, before anything is measured."""

    unit: Unit
    task: Task
    items: list[Item]
    warmup: list[Item]

    @property
    def max_tokens(self) -> int:
        return self.unit.max_tokens or self.task.default_max_tokens


@dataclass
class Bench:
    """Everything one benchmark needs while it runs."""

    run: RunDir
    plan: Plan
    engine: EngineClient
    engine_info: EngineInfo
    meter: Meter
    node: dict[str, Any]
    observer: Observer
    stop: StopFlag = field(default_factory=StopFlag)
    sample_period_s: float = 0.2
    sensor: dict[str, Any] | None = None
    power: UnitPower | None = None
    started_s: float = field(default_factory=clock.monotonic)
    last_index: int | None = None
    is_first_unit: bool = True

    @property
    def starts_empty(self) -> bool:
        return self.is_first_unit and bool(self.plan.timings.idle_s) and self.engine.can_load

    def check_time_limit(self) -> None:
        limit_s = self.plan.time_limit_s
        if limit_s is not None and clock.monotonic() - self.started_s >= limit_s:
            self.stop.set(f"the time limit of {limit_s:g} s was reached", "stopped")


@dataclass(frozen=True)
class Outcome:
    """How a benchmark ended."""

    state: State
    reason: str | None
    exit_code: ExitCode


def load_units(plan: Plan, dataset_dir: Path | None) -> list[Loaded]:
    """Load all data first: what is missing is said before minutes are spent on measuring."""
    return [_load(unit, plan.seed, dataset_dir) for unit in plan.units]


def _load(unit: Unit, seed: int, dataset_dir: Path | None) -> Loaded:
    task = get_task(
        unit.task,
        n_shot=unit.n_shot,
        level=unit.level,
        dataset_dir=dataset_dir,
        dataset_revision=unit.dataset_revision,
    )
    items = task.items(n=unit.n_items, seed=seed)
    asked = {item.question for item in items}
    others = task.items(n=min(unit.concurrency, unit.n_items), seed=seed + 1)
    return Loaded(unit, task, items, [item for item in others if item.question not in asked])


def run_plan(bench: Bench, units: list[Loaded]) -> Outcome:
    """Run what is left of the plan. Whatever ends it early, all that was measured stays on disk."""
    try:
        for position, loaded in enumerate(units):
            _run_or_skip(bench, position, loaded)
            if bench.stop.reason:
                break
    except ControllerError as error:
        return Outcome("failed", str(error), error.exit_code)
    if bench.stop.reason is None:
        return Outcome("finished", None, ExitCode.OK)
    code = ExitCode.INTERRUPTED if bench.stop.state == "interrupted" else ExitCode.OK
    return Outcome(bench.stop.state, bench.stop.reason, code)


def _run_or_skip(bench: Bench, position: int, loaded: Loaded) -> None:
    left = items_left(bench, position, loaded)
    if not left:
        return
    try:
        with bench.power(loaded.unit) if bench.power else nullcontext():
            _run_unit(bench, position, loaded, left)
    except UnitSkipped as skipped:
        bench.run.skip(position, str(skipped))
        bench.observer.note(f"{loaded.unit.label} is skipped: {skipped}")


def items_left(bench: Bench, position: int, loaded: Loaded) -> list[Item]:
    """The items nobody has answered yet, in the order they are asked in."""
    answered = bench.run.answered(position)
    indices = [item.index for item in loaded.items]
    order = item_order(indices, seed=bench.plan.seed, unit=loaded.unit, after=bench.last_index)
    return [loaded.items[i] for i in order if indices[i] not in answered]


def _run_unit(bench: Bench, position: int, loaded: Loaded, left: list[Item]) -> None:
    bench.observer.unit_started(position, loaded.unit, len(loaded.items) - len(left))
    guard = ThermalGuard()
    header = _header(bench, loaded, left)
    _empty_the_card(bench)
    with closing(bench.run.new_part(position, loaded.unit.label, header)) as part:

        def sink(reading: Reading) -> None:
            part.add_reading(reading)
            guard.watch(reading)

        sampler = Sampler(bench.meter, bench.sample_period_s, sink=sink).start()
        try:
            _measure(bench, part, sampler, guard, loaded, left)
        finally:
            _finish(bench, part, sampler, header, left)


def _measure(
    bench: Bench, part: PartWriter, sampler: Sampler, guard: ThermalGuard, loaded: Loaded, left: list[Item]
) -> None:
    asker = Asker(
        bench.engine, loaded.task, loaded.unit, bench.engine_info.model_id, bench.plan.seed, loaded.max_tokens
    )
    for phase, seconds in _baselines(bench):
        part.enter_phase(phase)
        bench.observer.phase(phase, seconds)
        if phase == "load":
            bench.engine.load(bench.engine_info.model_id)
        bench.stop.wait(seconds)
    bench.is_first_unit = False
    part.enter_phase("warmup")
    bench.observer.phase("warmup", bench.plan.timings.lead_in_s)
    _warm_up(asker, loaded, bench.stop)
    bench.stop.wait(bench.plan.timings.lead_in_s)
    part.enter_phase("items")
    try:
        _ask(bench, part, sampler, guard, asker, left)
    finally:
        part.enter_phase("tail")
        time.sleep(bench.plan.timings.lead_in_s)  # also after an interruption: the last item needs its edge


def _baselines(bench: Bench) -> Iterator[tuple[str, float]]:
    """The waiting card before each unit, and once a session without the model, where the engine lets go of it."""
    idle_s = bench.plan.timings.idle_s
    if bench.starts_empty:
        yield "empty_idle", idle_s
        yield "load", 0.0
    if idle_s:
        yield "loaded_idle", idle_s


def _empty_the_card(bench: Bench) -> None:
    """Before the recording, so that the unloading itself is in no phase."""
    if bench.starts_empty:
        bench.engine.unload(bench.engine_info.model_id)
        bench.stop.wait(bench.plan.timings.lead_in_s)


def _warm_up(asker: Asker, loaded: Loaded, stop: StopFlag) -> None:
    """One short answer per slot, to other questions than those measured. Raises EngineError: nothing is lost yet."""
    for item in loaded.warmup:
        if stop.reason:
            return
        request = asker.request(item)
        asker.engine.chat(replace(request, max_tokens=min(WARMUP_TOKENS, request.max_tokens)))


def _ask(bench: Bench, part: PartWriter, sampler: Sampler, guard: ThermalGuard, asker: Asker, left: list[Item]) -> None:
    before_j = sampler.energy_so_far_j()
    failed: list[int] = []

    def note(text: str) -> None:
        part.note(text)
        bench.observer.note(text)

    def before_each() -> None:
        guard.wait_until_cool(bench.stop, note)
        bench.check_time_limit()

    def on_row(row: ItemRow) -> None:
        part.add_item(row)
        failed[:] = [*failed, row.index] if row.finish_reason == "error" else []
        bench.last_index = row.index
        energy_j = sampler.energy_so_far_j()
        bench.observer.item_done(row, None if energy_j is None or before_j is None else energy_j - before_j)

    try:
        ask_all(
            left,
            asker.ask,
            concurrency=asker.unit.concurrency,
            stop=bench.stop,
            before_each=before_each,
            on_row=on_row,
        )
    except ControllerError:
        part.void_items(failed)
        raise
    if bench.stop.reason:  # what failed last may have failed because of the very same interruption
        part.void_items(failed)


def _header(bench: Bench, loaded: Loaded, left: list[Item]) -> dict[str, Any]:
    """All that a bundle needs besides what is measured, so that a bundle can be made from the disk alone."""
    return {
        "created_at": clock.now().isoformat(timespec="seconds"),
        "unit": loaded.unit.model_dump(mode="json"),
        "seed": bench.plan.seed,
        "max_tokens": loaded.max_tokens,
        "order": [item.index for item in left],
        "task": {
            "name": loaded.task.name,
            "n_shot": loaded.task.n_shot,
            "level": getattr(loaded.task, "level", None),
            "dataset_revision": loaded.task.dataset_revision,
            "is_canary": loaded.task.is_canary,
        },
        "node": bench.node,
        "sensor": bench.sensor,
        **_what_is_known_of_the_devices(bench),
    }


def _what_is_known_of_the_devices(bench: Bench) -> dict[str, Any]:
    info = asdict(bench.engine_info) | {"prefix_cache": bench.engine.prefix_cache}
    kept_at_home = ("model_id", "model_file")
    return {
        "engine": {name: value for name, value in info.items() if name not in kept_at_home},
        "meter": asdict(bench.meter.info()),
    }


def _finish(bench: Bench, part: PartWriter, sampler: Sampler, header: dict[str, Any], left: list[Item]) -> None:
    """A meter knows only afterwards which of its channels gave something, so the header is written again."""
    trace = sampler.stop()
    if "sink" in trace.reasons:
        part.write_trace(trace.readings)
    part.end_phases()
    known = _what_is_known_of_the_devices(bench)
    meter, before = known["meter"], header["meter"]
    meter["reasons"] |= trace.reasons
    meter |= {name: before[name] for name in LIMITS if meter[name] is None}  # a card that is gone tells no limit
    part.write_header(header | known | {"tick_cost_s": trace.tick_cost_s})
    _refuse_two_limits(part, before["power_limit_w"], meter["power_limit_w"], left)


def _refuse_two_limits(part: PartWriter, before_w: float | None, after_w: float | None, left: list[Item]) -> None:
    if before_w is None or after_w is None or abs(after_w - before_w) <= LIMIT_SLACK_W:
        return
    part.void_items([item.index for item in left])
    raise LimitChanged(
        f"Somebody changed the power limit from {before_w:g} W to {after_w:g} W during {part.path.name}: its questions "
        "count for neither. They stay on disk; --resume asks them again."
    )


def weights_digest(info: EngineInfo) -> str | None:
    """What identifies the weights: the engine's word, else the sha256 of its model file, where we can read it."""
    if info.weights_digest or info.model_file is None:
        return info.weights_digest
    try:
        with info.model_file.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
