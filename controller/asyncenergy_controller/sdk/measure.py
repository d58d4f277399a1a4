"""Measure a block or a function of your own code, and report it."""

import asyncio
import functools
import inspect
import logging
import os
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import TracebackType
from typing import Any, ParamSpec, TypeVar, cast

from asyncenergy_controller import clock
from asyncenergy_controller.identity import controller_id
from asyncenergy_controller.meters.base import Meter
from asyncenergy_controller.meters.null import NullMeter
from asyncenergy_controller.meters.select import open_meter
from asyncenergy_controller.reporting import Measurement, Measuring, RunRecord
from asyncenergy_controller.reporting.records import ExitStatus
from asyncenergy_controller.sdk.naming import fingerprint
from asyncenergy_controller.sdk.sender import Sender
from asyncenergy_controller.sdk.together import blocks
from asyncenergy_controller.settings import Settings, revealed

log = logging.getLogger(__name__)

FRAMEWORK = "sdk"
BESIDE = "another measured block ran at the same time, and what each of them drew can't be told apart"

Given = ParamSpec("Given")
Result = TypeVar("Result")


@dataclass
class Run:
    """One measured block. Say what it did by `work_units`; what it drew is there when it has ended."""

    work_units: float | None = None
    work_unit_kind: str | None = None
    run_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    started_at: datetime = field(default_factory=clock.now)
    exit_status: ExitStatus | None = None
    measurement: Measurement | None = None

    @property
    def energy_wh(self) -> float | None:
        """Measured energy; None until the block has ended, and where it was not measured."""
        return self.measurement.energy_wh if self.measurement else None

    @property
    def reason(self) -> str | None:
        """Why there is no energy."""
        return self.measurement.reason if self.measurement else None


@dataclass(frozen=True, slots=True)
class About:
    """What is measured."""

    name: str | None
    workflow_id: str | None
    work_unit_kind: str | None


class Measure:
    """`with`, `async with` or a decorator; each of them measures and reports one run a time."""

    def __init__(self, settings: Settings, sender: Sender, about: About) -> None:
        self._settings = settings
        self._sender = sender
        self._about = about
        self._block: _Block | None = None

    def __enter__(self) -> Run:
        block = self._new_block()
        block.start()
        blocks.began(block.run.run_id)
        return block.run

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        block = self._taken_block()
        block.end(error, beside=blocks.ended(block.run.run_id))

    async def __aenter__(self) -> Run:
        block = self._new_block()
        starting = asyncio.ensure_future(asyncio.to_thread(block.start))
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            self._taken_block()
            starting.add_done_callback(lambda _: block.abandon())
            raise
        blocks.began(block.run.run_id)
        return block.run

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """The report is kept also where the task is cancelled again meanwhile."""
        block = self._taken_block()
        beside = blocks.ended(block.run.run_id)
        await asyncio.shield(asyncio.to_thread(block.end, error, beside=beside))

    def __call__(self, work: Callable[Given, Result]) -> Callable[Given, Result]:
        """Measure each call; the name is the function's own where none was given."""
        about = replace(self._about, name=self._about.name or _name_of(work))
        bodies = (work, type(work).__call__)  # an object's own `__call__` may be asynchronous, too
        if any(inspect.isgeneratorfunction(body) or inspect.isasyncgenfunction(body) for body in bodies):
            raise TypeError(
                f"{_name_of(work) or work} is a generator, whose call ends at once: use `with` inside of it"
            )
        if any(map(inspect.iscoroutinefunction, bodies)):
            return cast(Callable[Given, Result], self._measured_async(work, about))

        @functools.wraps(work)
        def measured(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            with Measure(self._settings, self._sender, about):
                return work(*args, **kwargs)

        return measured

    def _measured_async(self, work: Callable[..., Any], about: About) -> Callable[..., Any]:
        @functools.wraps(work)
        async def measured(*args: Any, **kwargs: Any) -> Any:
            async with Measure(self._settings, self._sender, about):
                return await work(*args, **kwargs)

        return measured

    def _new_block(self) -> "_Block":
        if self._block is not None:
            raise RuntimeError("this measurement is under way: each block needs a `measure(...)` of its own")
        self._block = _Block(self._settings, self._sender, self._about)
        return self._block

    def _taken_block(self) -> "_Block":
        block, self._block = self._block, None
        assert block is not None
        return block


class _Block:
    """One run from its first reading to its report. Whatever fails here, the work goes on."""

    def __init__(self, settings: Settings, sender: Sender, about: About) -> None:
        self._settings = settings
        self._sender = sender
        self._about = about
        self._meter: Meter = NullMeter()
        self._measuring: Measuring | None = None
        self._pid = os.getpid()
        self.run = Run(work_unit_kind=about.work_unit_kind)

    def start(self) -> None:
        try:
            self._meter = _open(self._settings)
            self._measuring = Measuring(self._meter)
        except Exception as error:  # noqa: BLE001 - no fault of a meter stops the work
            log.warning("Energy is not measured: %s", error)
            self._measuring = Measuring(NullMeter(f"the meter can't be opened: {error}"))

    def abandon(self) -> None:
        """Stop without a report: the work never began."""
        if self._measuring is not None:
            self._measuring.stop()
            self._meter.close()

    def end(self, error: BaseException | None, *, beside: bool) -> None:
        if self._pid != os.getpid():
            return  # a forked child leaves the block as well, but the run is its parent's
        try:
            self._report(status_of(error), beside)
        except Exception:  # no fault of a report fails the work
            log.exception("Run %s could not be reported", self.run.run_id)

    def _report(self, status: ExitStatus, beside: bool) -> None:
        assert self._measuring is not None
        measurement = self._measuring.stop()
        self._meter.close()
        self.run.exit_status = status
        self.run.measurement = _withheld(measurement) if beside else measurement
        self._sender.report(self.run.measurement.onto(self._record()), self.run.measurement.samples)

    def _record(self) -> RunRecord:
        name = self._about.name
        return RunRecord(
            controller_id=controller_id(self._settings),
            run_id=self.run.run_id,
            ts=clock.now(),
            workflow_id=self._about.workflow_id,
            fingerprint=fingerprint(self._settings, name) if name else None,
            framework=FRAMEWORK,
            exit_status=self.run.exit_status,
            work_units=self.run.work_units,
            work_unit_kind=self.run.work_unit_kind,
            actual_start=self.run.started_at,
        )


def _name_of(work: Callable[..., Any]) -> str | None:
    """Module and name of a function; a callable object has none."""
    name = getattr(work, "__qualname__", None)
    return f"{work.__module__}.{name}" if name else None


def status_of(error: BaseException | None) -> ExitStatus:
    """How a block ended: being told to stop is no failure of the work."""
    match error:
        case None | SystemExit(code=None | 0):
            return "success"
        case KeyboardInterrupt() | asyncio.CancelledError() | GeneratorExit():
            return "preempted"
    return "error"


def _open(settings: Settings) -> Meter:
    return open_meter(
        settings.meter,
        settings.device,
        own_pids=[os.getpid()],
        wall=settings.wall,
        wall_secret=revealed(settings.wall_secret),
    )


def _withheld(measurement: Measurement) -> Measurement:
    return replace(measurement, energy_wh=None, energy_source=None, avg_w=None, peak_w=None, reason=BESIDE, samples=())
