"""From options to a plan."""

from collections.abc import Iterable

from asyncenergy_controller.bench.plan import SEED, Plan, SettingValue, Timings, Unit
from asyncenergy_controller.bench.suites import SMALL_ITEMS
from asyncenergy_controller.cli.options import Measuring
from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.settings import Settings

SMALL = "small"


def adjusted(plan: Plan, options: Measuring, settings: Settings) -> Plan:
    """The plan with what the person asked for instead of its defaults."""
    asked = {"concurrency": options.concurrency, "max_tokens": options.max_tokens, "n_items": n_items(options.items)}
    changes = {name: value for name, value in asked.items() if value is not None}
    return plan.model_copy(
        update={
            "units": tuple(Unit.model_validate(unit.model_dump() | changes) for unit in plan.units),
            "seed": SEED if options.seed is None else options.seed,
            "time_limit_s": options.time_limit,
            "timings": Timings(idle_s=settings.idle_s, lead_in_s=settings.lead_in_s),
        }
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
        return float(text)
    except ValueError:
        return text
