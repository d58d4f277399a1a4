"""The examination: one look after another, each with what was found and what to do about it."""

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

from asyncenergy_controller import clock
from asyncenergy_controller.bench.machine import engine_pids
from asyncenergy_controller.bench.power import CAPPABLE_METERS
from asyncenergy_controller.checks import Check
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
from asyncenergy_controller.meters.base import Meter, MeterInfo, Reading
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
PROCESS_STATUS = Path("/proc/self/status")
CAP_SYS_ADMIN = 21
BURST = "Say yes."
ENERGY = ("energy", "gpu_energy_mj", "gpu_power_w")
"""Channels whose reasons say why there is no energy."""
NO_LAG = {
    "too_few_samples": "a longer --seconds helps",
    "no_edges": "it shows only where the load moves the GPU's power by 20 W",
    "ambiguous": "the load repeats itself: a longer --seconds helps",
    "no_match": "is this machine plugged into it? A longer --seconds helps",
}
NO_ENERGY = "its counter stands still: a newer driver or another --meter may do better"
DATASET_TASKS = ("gsm8k_platinum", "mmlu_redux", "ifeval")


@dataclass
class Report:
    """All checks, and what goes into each bundle as `sensor`."""

    checks: list[Check] = field(default_factory=list)
    sensor: dict[str, Any] = field(default_factory=dict)

    @property
    def exit_code(self) -> ExitCode:
        """NO_METER, also where one was opened and gave nothing, before NO_ENGINE; everything else is advice."""
        failed = {check.name for check in self.checks if check.state == "fail"}
        if failed & {"meter", "drift idle", "drift loaded"}:
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
    elif patient.meter and patient.settings.wall:
        idle = record(patient.meter, patient.seconds, patient.settings.sample_period_s)
        yield _plug_check(patient, patient.meter, idle.readings, sensor)
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
                yield _kind_check(kind, meter.info())
        except ControllerError as error:
            yield Check(f"meter {kind}", "skip", error.message)


def _kind_check(kind: str, info: MeterInfo) -> Check:
    found = info.device_name or "found"
    if info.energy_source is None:
        return Check(f"meter {kind}", "skip", f"{found} gives neither energy nor power: {_why_none(info)}")
    return Check(f"meter {kind}", "ok", found)


def _why_none(info: MeterInfo) -> str:
    return "; ".join(dict.fromkeys(info.reasons[name] for name in ENERGY if name in info.reasons))


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
        return Check("meter", "fail", error.message, "choose another with --meter, --device or --wall")
    patient.meter, info = meter, meter.info()
    if info.energy_source is None:
        why = f"energy can't be measured here: {_why_none(info)}"
        return Check("meter", "fail", why, "accuracy and speed still can")
    found = f"{info.meter} measures {info.device_name} ({info.energy_boundary}, {info.energy_source})"
    if info.energy_source == "simulated":
        return Check("meter", "warn", found, "its load is invented: --meter auto measures, where there is a meter")
    return Check("meter", "ok", found)


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
    yield _drift_check("idle", window(idle, info), sensor)
    if patient.engine_info is None:
        yield Check("drift loaded", "skip", "no engine to make a load with")
        yield _plug_check(patient, meter, idle.readings, sensor)
        return
    try:
        yield from _loaded(patient, meter, idle, found.counter_period_s, sensor)
    except EngineError as error:
        yield Check("engine", "fail", f"it stopped answering under load: {error.message}", "look into its own log")


def _loaded(
    patient: _Patient, meter: Meter, idle: Trace, counter_period_s: float | None, sensor: dict[str, Any]
) -> Iterator[Check]:
    """Raises EngineError where the engine that makes the load fails."""
    loaded = _recorded_under_load(patient, meter)
    yield _drift_check("loaded", window(loaded, meter.info()), sensor)
    yield _plug_check(patient, meter, [*idle.readings, *loaded.readings], sensor)
    if counter_period_s:
        yield _alias_check(AliasTest(meter, patient.burst, counter_period_s, patient.seconds).run(), sensor)


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
        said = f"no channel moved often enough to tell its pace; {cost}"
        return Check("pace", "warn", said, "a longer --seconds helps")
    return Check("pace", "ok", ", ".join([*moving, cost]))


def _drift_check(load: str, found: Window, sensor: dict[str, Any]) -> Check:
    name = f"drift {load}"
    sensor |= _known(**{f"{load}_mean_w": found.mean_w, f"{load}_drift_pct": found.drift_pct})
    if found.drift_pct is None:
        one = found.counter_j if found.counter_j is not None else found.integrated_j
        if one is None:
            return Check(name, "fail", "neither counter nor power gave energy over the window", NO_ENERGY)
        said = f"{one:.1f} J by one channel alone, nothing to compare it with"
        return Check(name, "warn", said, "a wall plug (--wall) would be a second reading")
    said = f"counter {found.counter_j:.1f} J, integrated power {found.integrated_j:.1f} J, {found.drift_pct:+.2f} %"
    if abs(found.drift_pct) <= MAX_DRIFT_PCT:
        return Check(name, "ok", said)
    return Check(name, "warn", said, "close other programs on the device and look again; a longer --seconds helps")


def _plug_check(patient: _Patient, meter: Meter, readings: Sequence[Reading], sensor: dict[str, Any]) -> Check:
    if not patient.settings.wall:
        return Check("wall", "skip", "no wall plug is read", "give one with --wall for tier B and A")
    found = plug(readings)
    if found is None:
        why = meter.info().reasons.get("wall_power_w", "it has not answered yet")
        return Check("wall", "warn", f"the plug gave no reading: {why}", "correct --wall, or its password or token")
    lag_s, reason = found.alignment.skew_s, found.alignment.reason
    sensor |= _known(wall_resolution_w=found.resolution_w, wall_period_s=found.period_s, wall_lag_s=lag_s)
    if lag_s is None:
        return Check("wall", "warn", f"{_plug_said(found)}; its lag can't be told ({reason})", NO_LAG.get(reason or ""))
    said = f"{_plug_said(found)}, {lag_s:+.1f} s behind the GPU"
    if abs(lag_s) <= MAX_WALL_LAG_S:
        return Check("wall", "ok", said)
    return Check("wall", "warn", said, "each run takes it out, but a plug that reports sooner tells more")


def _plug_said(found: Plug) -> str:
    pace = f"a reading every {found.period_s:.1f} s" if found.period_s else "one reading"
    return f"{pace}, steps of {found.resolution_w:g} W" if found.resolution_w else f"{pace}, always the same"


def _alias_check(found: Aliasing | None, sensor: dict[str, Any]) -> Check:
    if found is None:
        said = "not tested: that takes answers shorter than the counter's own period, and a window of many of them"
        return Check("aliasing", "skip", said, "where the answers are short, a longer --seconds helps")
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
    if info.meter.split("+")[0] not in CAPPABLE_METERS:
        return Check("power limit", "skip", "no NVIDIA GPU is metered, and no other's limit is ever touched")
    try:
        control = PowerControl(settings.power_journal_dir, settings.device, policy=settings.power_cap_policy)
        why_not = control.why_not()
    except ControllerError as error:
        why_not = error.message
    if why_not is None and _lacks_admin():
        why_not = "this root lacks CAP_SYS_ADMIN: a container gets it by --cap-add SYS_ADMIN"
    if why_not is None:
        return Check("power limit", "ok", "it can be lowered, so sweeps can run")
    return Check("power limit", "skip", why_not, "power sweeps are skipped; everything else runs")


def _lacks_admin() -> bool:
    """Whether Linux says that the driver will refuse us; elsewhere nothing tells."""
    try:
        effective = re.search(r"^CapEff:\s*([0-9a-f]+)$", PROCESS_STATUS.read_text(), re.MULTILINE)
    except OSError:
        return False
    return effective is not None and not int(effective[1], 16) >> CAP_SYS_ADMIN & 1


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
