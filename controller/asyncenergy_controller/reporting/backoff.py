"""When to try again: ever later, and never all machines at once."""

import random
from collections.abc import Callable

from asyncenergy_controller import clock

FIRST_S = 5.0
LONGEST_S = 900.0


def _now_s() -> float:
    """Seconds that never jump back, at the pace at which the time of day runs."""
    return clock.monotonic() * clock.factor()


class Backoff:
    """Twice as long a pause after each failure, up to a quarter of an hour; each is cut by chance to half at most."""

    def __init__(self, *, now_s: Callable[[], float] = _now_s, draw: Callable[[], float] = random.random) -> None:
        self._now_s = now_s
        self._draw = draw
        self._failures = 0
        self._until_s = float("-inf")

    @property
    def left_s(self) -> float:
        """Seconds until the next try, 0 where it is time."""
        return max(0.0, self._until_s - self._now_s())

    def failed(self) -> None:
        longest_s = min(LONGEST_S, FIRST_S * 2 ** min(self._failures, 20))
        self._failures += 1
        self._until_s = self._now_s() + longest_s * (1 + self._draw()) / 2

    def worked(self) -> None:
        self._failures, self._until_s = 0, float("-inf")
