"""How long a benchmark will take, from the pace of the questions so far."""

from dataclasses import dataclass, field

from asyncenergy_controller.bench.plan import Plan, Unit

ENOUGH_ITEMS = 3
FULL_QUICK_MINUTES = {"gpu": 25, "soc": 80}


@dataclass
class Projection:
    """Seconds per question as measured, by task and concurrency; the last pace stands for tasks not seen yet."""

    plan: Plan
    _pace_s: dict[tuple[str, int], float] = field(default_factory=dict)
    _last_pace_s: float | None = None

    @property
    def overhead_s(self) -> float:
        """Metered seconds around the questions of one unit."""
        return self.plan.timings.idle_s + 2 * self.plan.timings.lead_in_s

    def measured(self, unit: Unit, asked: int, elapsed_s: float) -> None:
        """So many questions of this unit took so many seconds."""
        if asked >= ENOUGH_ITEMS:
            self._last_pace_s = self._pace_s[unit.task, unit.concurrency] = elapsed_s / asked

    def left_s(self, position: int, done: int) -> float | None:
        """Seconds from now on, with `done` questions of unit `position` answered; None as long as nobody knows."""
        if self._last_pace_s is None:
            return None
        current, *later = self.plan.units[position:]
        seconds = self._unit_s(current, current.n_items - done) + self.plan.timings.lead_in_s
        return seconds + sum(self._unit_s(unit, unit.n_items) + self.overhead_s for unit in later)

    def _unit_s(self, unit: Unit, items: int) -> float:
        return items * self._pace_s.get((unit.task, unit.concurrency), self._last_pace_s or 0.0)


def expectation(plan: Plan, device_kind: str, n_full_items: int) -> str:
    """What can be said of `quick` before anything was measured on this machine."""
    minutes = FULL_QUICK_MINUTES.get(device_kind)
    if minutes is None:
        return "How long it takes is projected after the first questions."
    about = max(1, round(minutes * plan.n_items / n_full_items))
    return f"About {about} minutes on a usual machine of this kind; projected again after the first questions."
