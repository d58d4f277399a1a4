"""The two clocks: the time of day, and the time that intervals are measured in."""

import os
import time
from datetime import UTC, datetime
from functools import cache

from asyncenergy_controller.errors import UsageError

TEST_CLOCK = "ASYNCENERGY_TEST_CLOCK"


def now() -> datetime:
    """Return the time of day in UTC.

    `ASYNCENERGY_TEST_CLOCK=epoch,factor` makes time run `factor` times as fast from the Unix time `epoch` on. Every
    process that has the same setting reads the same time, so a week can pass in minutes. Refused in production.
    """
    setting = os.environ.get(TEST_CLOCK)
    seconds = time.time()
    if setting:
        epoch, factor = _test_clock(setting, os.environ.get("ASYNCENERGY_ENV", "embedded"))
        seconds = epoch + (seconds - epoch) * factor
    return datetime.fromtimestamp(seconds, UTC)


@cache
def _test_clock(setting: str, environment: str) -> tuple[float, float]:
    if environment == "production":
        raise UsageError(f"{TEST_CLOCK} is set, but ASYNCENERGY_ENV is production: unset {TEST_CLOCK}")
    try:
        epoch, factor = (float(part) for part in setting.split(","))
    except ValueError:
        raise UsageError(
            f"{TEST_CLOCK} must be epoch,factor, such as 1790000000,60; it is {setting!r}: correct or unset it"
        ) from None
    return epoch, factor


def _monotonic_clock_id() -> int | None:
    """Return the clock that also counts while the machine sleeps, so that a sleep shows as a hole."""
    for name in ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC"):
        if hasattr(time, name):
            return int(getattr(time, name))
    return None


_CLOCK_ID = _monotonic_clock_id()


def monotonic() -> float:
    """Return seconds on a clock that never jumps back and goes on while the machine sleeps."""
    return time.monotonic() if _CLOCK_ID is None else time.clock_gettime(_CLOCK_ID)
