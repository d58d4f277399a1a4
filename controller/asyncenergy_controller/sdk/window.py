"""When to run: the cheapest time that meets a deadline."""

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from asyncenergy_controller import clock
from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.server import ServerFailed
from asyncenergy_controller.server.values import finite_number, instant, text


class NoWindow(ControllerError):
    """No time meets the deadline; the message says why, and what would make the work fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Where the work would run, in UTC, and what that saves. Money is in `currency`; None is not known."""

    feasible: bool
    start: datetime | None
    """None where nothing meets the deadline."""
    end: datetime | None
    predicted_wh: float | None
    cost: float | None
    now_cost: float | None
    """Of starting at once."""
    savings: float | None
    currency: str | None
    reason: str
    smallest_change: str | None
    """What would make the work fit."""
    degraded: bool
    """Made with stale or forecast prices."""
    prediction_method: str | None
    """Where the predicted energy comes from: `history`, `bench_prior` or `nameplate`."""

    def wait(self) -> None:
        """Return when the window begins, at once where it has. Raises NoWindow where nothing meets the deadline."""
        clock.sleep_until(self._start())

    async def wait_async(self) -> None:
        """The same, while other tasks go on."""
        start = self._start()
        while (left_s := (start - clock.now()).total_seconds() / clock.factor()) > 0:  # noqa: ASYNC110 - not an event
            await asyncio.sleep(min(left_s, clock.LONGEST_NAP_S))

    def _start(self) -> datetime:
        if self.start is None:
            change = f" It would fit with this change: {self.smallest_change}." if self.smallest_change else ""
            raise NoWindow(f"No time meets the deadline: {self.reason or 'no reason was given'}.{change}")
        return self.start


def window_of(answer: Mapping[str, Any]) -> Window:
    """Read the server's advice. Raises ServerFailed where it is none."""
    feasible = answer.get("feasible")
    start, end = instant(answer.get("start")), instant(answer.get("end"))
    if not isinstance(feasible, bool) or (feasible and (start is None or end is None)):
        raise ServerFailed("The server's advice can't be read; is this an Async Energy server?")
    return Window(
        feasible=feasible,
        start=start if feasible else None,
        end=end if feasible else None,
        predicted_wh=finite_number(answer.get("predicted_wh")),
        cost=finite_number(answer.get("grid_cost")),
        now_cost=finite_number(answer.get("now_cost")),
        savings=finite_number(answer.get("savings")),
        currency=text(answer.get("currency")),
        reason=text(answer.get("reason")) or "",
        smallest_change=text(answer.get("smallest_change")),
        degraded=answer.get("degraded") is True,
        prediction_method=text(answer.get("prediction_method")),
    )


def seconds(length: float | timedelta) -> float:
    duration_s = length.total_seconds() if isinstance(length, timedelta) else float(length)
    if not 0 < duration_s < math.inf:
        raise ValueError(f"the duration must be a number of seconds above 0, not {duration_s:g}")
    return duration_s


def said(at: str | datetime) -> str:
    """A time as the server reads it: your words as they are, a datetime in UTC; a naive one is this machine's time."""
    return at if isinstance(at, str) else at.astimezone(UTC).isoformat(timespec="seconds")
