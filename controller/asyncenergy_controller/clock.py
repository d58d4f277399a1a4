"""The two clocks: the time of day, and the time that intervals are measured in."""

import os
import threading
import time
from datetime import UTC, datetime
from functools import cache

from asyncenergy_controller.errors import UsageError

TEST_CLOCK = "ASYNCENERGY_TEST_CLOCK"
LONGEST_NAP_S = 30.0
"""A sleep of the machine, or a clock that was set, is noticed after this at the latest."""


def now() -> datetime:
    """Return the time of day in UTC.

    `ASYNCENERGY_TEST_CLOCK=epoch,factor` makes time run `factor` times as fast from the Unix time `epoch` on. Every
    process that has the same setting reads the same time, so a week can pass in minutes. Refused in production.
    """
    epoch, speed = _epoch_and_factor()
    return datetime.fromtimestamp(epoch + (time.time() - epoch) * speed, UTC)


def factor() -> float:
    """How many seconds of `now()` pass in one of `monotonic()`; 1 outside of tests."""
    return _epoch_and_factor()[1]


def wait(event: threading.Event, seconds: float) -> bool:
    """Wait until `event` is set, at most `seconds` of `now()`; return whether it is."""
    return event.wait(max(0.0, seconds) / factor())


def sleep_until(instant: datetime) -> None:
    """Return when `now()` has reached `instant`, also where the clock was set or the machine slept meanwhile."""
    while (left_s := (instant - now()).total_seconds() / factor()) > 0:
        time.sleep(min(left_s, LONGEST_NAP_S))


def monotonic_at(instant: datetime) -> float:
    """Return what `monotonic()` will read at `instant`, as long as nobody sets the clock."""
    return monotonic() + (instant - now()).total_seconds() / factor()


def _epoch_and_factor() -> tuple[float, float]:
    setting = os.environ.get(TEST_CLOCK)
    return _test_clock(setting, os.environ.get("ASYNCENERGY_ENV", "embedded")) if setting else (0.0, 1.0)


@cache
def _test_clock(setting: str, environment: str) -> tuple[float, float]:
    if environment == "production":
        raise UsageError(f"{TEST_CLOCK} is set, but ASYNCENERGY_ENV is production: unset {TEST_CLOCK}")
    try:
        epoch, speed = (float(part) for part in setting.split(","))
    except ValueError:
        raise UsageError(
            f"{TEST_CLOCK} must be epoch,factor, such as 1790000000,60; it is {setting!r}: correct or unset it"
        ) from None
    return epoch, speed


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
