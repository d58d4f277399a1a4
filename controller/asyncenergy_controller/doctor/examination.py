"""The examination: one look after another, each with what was found and what to do about it."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from asyncenergy_controller import clock
from asyncenergy_controller.bench.machine import engine_pids
from asyncenergy_controller.checks import Check, State
from asyncenergy_controller.doctor.sensor import (
    Aliasing,
    AliasTest,
    Pace,
    Plug,
    Window,
    pace,
    plug,
    record,
    window,
)
from asyncenergy_controller.engine import ChatRequest, EngineClient, EngineError, EngineInfo, detect_engine
from asyncenergy_controller.errors import ControllerError, ExitCode
from asyncenergy_controller.meters.base import Meter, MeterInfo
from asyncenergy_controller.meters.power_limit import PowerControl
from asyncenergy_controller.meters.select import AUTO_KINDS, GPU_KINDS, open_meter
from asyncenergy_controller.metrics.tiers import MAX_DRIFT_PCT
from asyncenergy_controller.sampler import Trace
from asyncenergy_controller.settings import Settings, revealed
from asyncenergy_controller.tasks import hub
from asyncenergy_controller.tasks.datasets import NotHere
from asyncenergy_controller.tasks.registry import get_task

MAX_ALIAS_PCT = 3.0
MAX_WALL_LAG_S = 3.0
BURST = "Say yes."
DATASET_TASKS = ("gsm8k_platinum", "mmlu_redux", "ifeval")


@dataclass
class Report:
    """All checks, and what goes into each bundle as `sensor`."""

    checks: list[Check] = field(default_factory=list)
    sensor: dict[str, Any] = field(default_factory=dict)

    @property
    def exit_code(self) -> ExitCode:
        """NO_METER before NO_ENGINE; everything else is advice."""
        failed = {check.name for check in self.checks if check.state == "fail"}
        if "meter" in failed:
            return ExitCode.NO_METER
        return ExitCode.NO_ENGINE if "engine" in failed else ExitCode.OK

    def as_dict(self) -> dict[str, Any]:
        return {"checks": [vars(check) for check in self.checks], "sensor": self.sensor}


@dataclass
class _Patient:
    """What was found so far and is needed for the next look."""

    settings: Settings
    seconds: float
    engine: EngineClient | None = None
    engine_info: EngineInfo | None = None
    meter: Meter | None = None

    def burst(self) -> None:
        """A short piece of load: the engine says one word."""
        if self.engine and self.engine_info:
            question = [{"role": "user", "content": BURST}]
            self.engine.chat(ChatRequest(model=self.engine_info.model_id, messages=question, max_tokens=1))


def examine(settings: Settings, seconds: float, tell: Callable[[Check], None]) -> Report:
    """Look at everything; `seconds` is the length of each measured window. `tell` gets each check as it comes."""
    report, patient = Report(), _Patient(settings, seconds)
    try:
        for check in _looks(patient, report.sensor):
            report.checks.append(check)
            tell(check)
    finally:
        for opened in (patient.engine, patient.meter):
            if opened:
                opened.close()
    return report


def _looks(patient: _Patient, sensor: dict[str, Any]) -> Iterator[Check]:
    yield _engine(patient)
    yield from _meters(patient.settings.device)
    yield _meter(patient)
    if patient.meter and patient.meter.info().energy_source:
        yield from _quality(patient, patient.meter, sensor)
        yield _power_limit(patient.settings, patient.meter.info())
    yield from _datasets(patient.settings)


def _engine(patient: _Patient) -> Check:
    settings = patient.settings
    urls = [settings.engine_url] if settings.engine_url else None
    try:
        patient.engine = detect_engine(
            urls, timeout_s=settings.request_timeout_s, api_key=revealed(settings.engine_api_key)
        )
        patient.engine_info = info = patient.engine.info(settings.model)
        patient.burst()
    except EngineError as error:
        patient.engine_info = None
        return Check("engine", "fail", error.message, "start an engine, or give its address with --engine-url")
    version = f" {info.engine_version}" if info.engine_version else ""
    return Check(
        "engine", "ok", f"{info.engine}{version} at {patient.engine.base_url} answers as {info.model_basename}"
    )


def _meters(device: str | None) -> Iterator[Check]:
    """Each kind of meter by itself: open, or why not. RAPL's own message says how to permit reading it."""
    for kind in AUTO_KINDS:
        try:
            with closing(open_meter(kind, device if kind in GPU_KINDS else None)) as meter:
                yield Check(f"meter {kind}", "ok", meter.info().device_name or "found")
        except ControllerError as error:
            yield Check(f"meter {kind}", "skip", error.message)


def _meter(patient: _Patient) -> Check:
    settings = patient.settings
    try:
        meter = open_meter(
            settings.meter,
            settings.device,
            own_pids=engine_pids(patient.engine.base_url) if patient.engine else (),
            wall=settings.wall,
            wall_secret=revealed(settings.wall_secret),
            every_counter_read=True,
        )
    except ControllerError as error:
        return Check("meter", "fail", error.message, "choose another with --meter or --device")
    patient.meter, info = meter, meter.info()
    if info.energy_source is None:
        why = "; ".join(info.reasons.values())
        return Check("meter", "fail", f"energy can't be measured here: {why}", "accuracy and speed still can")
    found = f"{info.meter} measures {info.device_name} ({info.energy_boundary}, {info.energy_source})"
    return Check("meter", "warn" if info.energy_source == "simulated" else "ok", found)


def _quality(patient: _Patient, meter: Meter, sensor: dict[str, Any]) -> Iterator[Check]:
    """How well the meter measures; the load is the engine's, where there is one."""
    info, found = meter.info(), pace(meter, patient.seconds)
    sensor |= {"meter": info.meter, "device_name": info.device_name, "measured_on": clock.now().date().isoformat()}
    sensor |= _known(
        counter_period_s=found.counter_period_s or info.counter_period_s,
        power_period_s=found.power_period_s,
        cpu_period_s=found.cpu_period_s,
        read_cost_s=found.read_cost_s,
    )
    yield _pace_check(found)
    idle = record(meter, patient.seconds, patient.settings.sample_period_s)
    yield _drift_check("idle", window(idle), sensor)
    if patient.engine_info is None:
        yield Check("drift loaded", "skip", "no engine to make a load with")
        return
    loaded = _recorded_under_load(patient, meter)
    yield _drift_check("loaded", window(loaded), sensor)
    yield _plug_check(plug([*idle.readings, *loaded.readings]), sensor)
    period_s = sensor.get("counter_period_s")
    if period_s and found.counter_period_s:
        yield _alias_check(AliasTest(meter, patient.burst, period_s, patient.seconds).run(), sensor)


def _recorded_under_load(patient: _Patient, meter: Meter) -> Trace:
    """The engine answers one short question after the other for as long as the recording lasts."""
    done = Event()

    def keep_busy() -> None:
        while not done.is_set():
            patient.burst()

    with ThreadPoolExecutor(max_workers=1) as pool:
        busy = pool.submit(keep_busy)
        try:
            trace = record(meter, patient.seconds, patient.settings.sample_period_s)
        finally:
            done.set()
        busy.result()
    return trace


def _known(**values: float | None) -> dict[str, float]:
    return {name: round(value, 6) for name, value in values.items() if value is not None}


def _pace_check(found: Pace) -> Check:
    periods = {"counter": found.counter_period_s, "power": found.power_period_s, "CPU counter": found.cpu_period_s}
    moving = [f"{name} moves every {1000 * period:.0f} ms" for name, period in periods.items() if period]
    cost = f"a reading costs {1000 * found.read_cost_s:.2f} ms"
    if not moving:
        return Check("pace", "warn", f"no channel moved often enough to tell its pace; {cost}")
    return Check("pace", "ok", ", ".join([*moving, cost]))


def _drift_check(load: str, found: Window, sensor: dict[str, Any]) -> Check:
    name = f"drift {load}"
    sensor |= _known(**{f"{load}_mean_w": found.mean_w, f"{load}_drift_pct": found.drift_pct})
    if found.drift_pct is None:
        one = found.counter_j if found.counter_j is not None else found.integrated_j
        if one is None:
            return Check(name, "fail", "neither counter nor power gave energy over the window", "see the meter's lines")
        return Check(name, "warn", f"{one:.1f} J by one channel alone, nothing to compare it with")
    said = f"counter {found.counter_j:.1f} J, integrated power {found.integrated_j:.1f} J, {found.drift_pct:+.2f} %"
    if abs(found.drift_pct) <= MAX_DRIFT_PCT:
        return Check(name, "ok", said)
    return Check(name, "warn", said, "close other programs on the device and look again; a longer --seconds helps")


def _plug_check(found: Plug | None, sensor: dict[str, Any]) -> Check:
    if found is None:
        return Check("wall", "skip", "no wall plug is read", "give one with --wall for tier B and A")
    lag_s = found.alignment.skew_s
    sensor |= _known(wall_resolution_w=found.resolution_w, wall_period_s=found.period_s, wall_lag_s=lag_s)
    said = f"a reading every {found.period_s or 0:.1f} s, steps of {found.resolution_w or 0:g} W"
    if lag_s is None:
        return Check("wall", "warn", f"{said}; its lag can't be told ({found.alignment.reason})")
    state: State = "ok" if abs(lag_s) <= MAX_WALL_LAG_S else "warn"
    return Check("wall", state, f"{said}, {lag_s:+.1f} s behind the GPU")


def _alias_check(found: Aliasing | None, sensor: dict[str, Any]) -> Check:
    if found is None:
        return Check(
            "aliasing", "skip", "one answer takes longer than the counter's own period, so it can't alias here"
        )
    sensor |= _known(alias_spread_pct=found.spread_pct, alias_burst_s=found.burst_s)
    said = (
        f"equal bursts read {min(found.at_own_period_w):.0f} .. {max(found.at_own_period_w):.0f} W by phase alone at "
        f"the counter's own period, {found.at_other_period_w:.0f} W at another"
    )
    if found.spread_pct <= MAX_ALIAS_PCT:
        return Check("aliasing", "ok", said)
    return Check("aliasing", "warn", said, "runs whose questions keep step with the counter are flagged phase-locked")


def _power_limit(settings: Settings, info: MeterInfo) -> Check:
    """Looks without trying: nothing is written to the card."""
    if info.energy_boundary != "gpu_board":
        return Check("power limit", "skip", "no GPU is metered")
    try:
        control = PowerControl(settings.power_journal_dir, settings.device, policy=settings.power_cap_policy)
        why_not = control.why_not()
    except ControllerError as error:
        why_not = error.message
    if why_not is None:
        return Check("power limit", "ok", "it can be lowered, so sweeps can run")
    return Check("power limit", "skip", why_not, "power sweeps are skipped; everything else runs")


def _datasets(settings: Settings) -> Iterator[Check]:
    """What lies here is read, nothing is downloaded; the hub is asked at most once whether it is there."""
    absent: NotHere | None = None
    for name in DATASET_TASKS:
        try:
            get_task(name, dataset_dir=settings.dataset_dir, may_download=False).items(n=1, seed=0)
        except NotHere as error:
            absent = absent or error
            yield Check(f"data {name}", "skip", error.message, "downloaded when first asked for, or --dataset-dir")
        except ControllerError as error:
            yield Check(f"data {name}", "skip", error.message)
        else:
            yield Check(f"data {name}", "ok", "at hand")
    if absent is not None:
        yield _hub(absent)


def _hub(absent: NotHere) -> Check:
    try:
        hub.probe(absent.repo, absent.revision)
    except ControllerError as error:
        return Check("data hub", "warn", error.message)
    return Check("data hub", "ok", "it answers, so that data sets can be downloaded")
