"""From options to a plan."""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Literal

import typer
from pydantic import ValidationError

from asyncenergy_controller.bench.plan import (
    SEED,
    Plan,
    SettingValue,
    Thinking,
    Timings,
    Unit,
    bundle_settings,
)
from asyncenergy_controller.bench.suites import SMALL_ITEMS
from asyncenergy_controller.cli.options import Measuring
from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.settings import Settings
from asyncenergy_controller.wire import WireError, refuse_private
from asyncenergy_controller.wire.runs import RunSettings

SMALL = "small"
DEFAULT_ITEMS = 40
OPTIONS = {
    "power_cap": "--caps",
    "clock_lock_mhz": "--clocks",
    "time_limit_s": "--time-limit",
    "cuda_graphs": "--set cuda_graphs",
    "kv_cache": "--set kv_cache",
    "extra": "--set",
}
"""Where the option has another name than what it becomes."""
SweptSuite = Literal["smoke", "quick", "reference"]


@dataclass(frozen=True)
class Choice:
    """Options that choose one task and how it is asked."""

    task: Annotated[str, typer.Option(help="arith, gsm8k, gsm8k_platinum, mmlu_redux, ifeval, ...")] = "arith"
    level: Annotated[int | None, typer.Option(min=1, help="Difficulty, for arith.")] = None
    dataset_revision: Annotated[str | None, typer.Option(help="Revision of the data set on the hub.")] = None
    n_shot: Annotated[int | None, typer.Option(min=0, help="Worked examples before each question.")] = None
    thinking: Annotated[Thinking, typer.Option(help="Let the model think first.")] = "off"
    reasoning_effort: Annotated[str | None, typer.Option(help="low, medium, high, where the model knows it.")] = None
    temperature: Annotated[float, typer.Option(min=0, help="0 is greedy.")] = 0.0
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE: an engine setting to keep with the run.")
    ] = None

    def unit(self) -> Unit:
        """40 questions of the task, unless --items says otherwise. Raises UsageError."""
        with _usage_errors():
            return Unit(
                task=self.task,
                n_items=DEFAULT_ITEMS,
                level=self.level,
                dataset_revision=self.dataset_revision,
                n_shot=self.n_shot,
                thinking=self.thinking,
                reasoning_effort=self.reasoning_effort,
                temperature=self.temperature,
                settings=setting_pairs(self.set_ or ()),
            )


def adjusted(plan: Plan, options: Measuring, settings: Settings) -> Plan:
    """The plan with what the person asked for instead of its defaults. Raises UsageError."""
    asked = {"concurrency": options.concurrency, "max_tokens": options.max_tokens, "n_items": n_items(options.items)}
    changes = {name: value for name, value in asked.items() if value is not None}
    with _usage_errors():
        planned = Plan.model_validate(
            plan.model_dump()
            | {
                "units": [unit.model_dump() | changes for unit in plan.units],
                "seed": SEED if options.seed is None else options.seed,
                "time_limit_s": options.time_limit,
                "timings": Timings(idle_s=settings.idle_s, lead_in_s=settings.lead_in_s),
            }
        )
        _refuse_what_no_bundle_takes(planned.units[0])
    return planned


def _refuse_what_no_bundle_takes(unit: Unit) -> None:
    """Before minutes are spent on measuring; what was chosen is the same in all units."""
    settings = {"reasoning_effort": unit.reasoning_effort, **bundle_settings(unit.settings)}
    RunSettings.model_validate(settings)
    try:
        refuse_private(settings)
    except WireError as error:
        raise UsageError(f"--set and --reasoning-effort are published with the run. {error.detail}") from error


@contextmanager
def _usage_errors() -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        words = [str(part) for part in first["loc"] if isinstance(part, str) and part != "units"]
        option = OPTIONS.get(words[0], f"--{words[0].replace('_', '-')}")
        raise UsageError(f"{option}: {first['msg']} ({first['input']!r} was given).") from error


def refuse_choices(options: Measuring) -> None:
    """Other questions, or several at a time, would be compared with what they can't be. Raises UsageError."""
    given = [name for name in ("items", "seed", "concurrency", "max_tokens") if getattr(options, name) is not None]
    if given:
        raise UsageError(
            f"The reference suite compares machines, so it takes no --{given[0].replace('_', '-')}: it is always the "
            "same 100 questions, one at a time. `bench run --task gsm8k_platinum` takes what you choose."
        )


def n_items(given: str | None) -> int | None:
    """A count of questions, `small`, or None where nothing was asked for. Raises UsageError."""
    if given is None:
        return None
    if given == SMALL:
        return SMALL_ITEMS
    try:
        count = int(given)
    except ValueError:
        count = 0
    if not 1 <= count <= 5_000:
        raise UsageError(f"--items is a number from 1 to 5000, or {SMALL!r}; {given!r} was given.")
    return count


def numbers(option: str, given: str) -> list[float]:
    """Comma-separated positive numbers. Raises UsageError."""
    try:
        found = [float(text) for text in given.split(",") if text.strip()]
    except ValueError:
        found = [0.0]
    if any(not 0 < value < math.inf for value in found):
        raise UsageError(f"{option} takes positive numbers with commas between them; {given!r} was given.")
    return found


def setting_pairs(given: Iterable[str]) -> dict[str, SettingValue]:
    """`KEY=VALUE` pairs; numbers and true/false are taken as such. Raises UsageError."""
    pairs = [pair.partition("=") for pair in given]
    for key, sign, value in pairs:
        if not (key and sign and value):
            raise UsageError(f"--set takes KEY=VALUE; {key + sign + value!r} was given.")
    return {key: _value(text) for key, _, text in pairs}


def _value(text: str) -> SettingValue:
    if text in ("true", "false"):
        return text == "true"
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text
