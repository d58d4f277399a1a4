"""The time of day, which a test may move; the controller reads the same variable in the same way."""

import os
import time
from datetime import UTC, datetime
from functools import cache

from django.core.exceptions import ImproperlyConfigured

TEST_CLOCK = "ASYNCENERGY_TEST_CLOCK"


def now() -> datetime:
    """Return the time of day in UTC.

    With `ASYNCENERGY_TEST_CLOCK=epoch,factor` time runs `factor` times as fast from the Unix time `epoch` on, and
    every process with the same setting reads the same time.
    """
    seconds = time.time()
    setting = os.environ.get(TEST_CLOCK)
    if setting:
        epoch, factor = _epoch_and_factor(setting)
        seconds = epoch + (seconds - epoch) * factor
    return datetime.fromtimestamp(seconds, UTC)


@cache
def _epoch_and_factor(setting: str) -> tuple[float, float]:
    try:
        epoch, factor = (float(part) for part in setting.split(","))
    except ValueError:
        raise ImproperlyConfigured(
            f"{TEST_CLOCK} is {setting!r}: write epoch,factor, such as 1790000000,60, or unset it"
        ) from None
    return epoch, factor
