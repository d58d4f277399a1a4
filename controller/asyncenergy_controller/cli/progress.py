"""The progress bar of a benchmark, on stderr: question, joules so far, time left."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from asyncenergy_controller import clock
from asyncenergy_controller.bench.numbers import number
from asyncenergy_controller.bench.plan import Plan, Unit
from asyncenergy_controller.bench.projection import ENOUGH_ITEMS, Projection
from asyncenergy_controller.bench.store import ItemRow

LOG_EVERY_S = 30.0


class ProgressBar:
    """Shows what a running benchmark tells; implements the runner's Observer."""

    def __init__(self, plan: Plan, *, simulated: bool) -> None:
        self._unit_of_energy = "J simulated" if simulated else "J"
        self._plan = plan
        self._projection = Projection(plan)
        self._started_s = clock.monotonic()
        self._position, self._unit, self._done = 0, plan.units[0], 0
        self._asked, self._first_start_s = 0, 0.0
        self._has_projected = self._has_warned = False
        self._told_s = self._started_s
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[energy]}"),
            TextColumn("{task.fields[left]}"),
            console=Console(stderr=True, highlight=False),
        )
        self._row: TaskID | None = None

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def unit_started(self, position: int, unit: Unit, done: int) -> None:
        self._position, self._unit, self._done, self._asked = position, unit, done, 0
        self._row = self._bar.add_task(unit.label, total=unit.n_items, completed=done, energy="", left="")

    def phase(self, name: str, seconds: float) -> None:
        if self._row is not None:
            self._bar.update(self._row, left=f"{name.replace('_', ' ')} {seconds:.0f} s")

    def item_done(self, row: ItemRow, energy_j: float | None) -> None:
        if self._row is None:
            return
        self._first_start_s = row.t_start_s if self._asked == 0 else self._first_start_s
        self._asked += 1
        self._projection.measured(self._unit, self._asked, row.t_end_s - self._first_start_s)
        left_s = self._projection.left_s(self._position, self._done + self._asked)
        energy = "energy not measured" if energy_j is None else f"{number(energy_j)} {self._unit_of_energy}"
        left = "" if left_s is None else f"{_duration(left_s)} left"
        self._bar.update(self._row, advance=1, energy=energy, left=left)
        self._project(left_s)
        self._tell_a_log(f"{energy} {left}")

    def _tell_a_log(self, figures: str) -> None:
        """Where nobody watches a bar move, a line now and then."""
        now_s = clock.monotonic()
        if self._bar.console.is_terminal or now_s - self._told_s < LOG_EVERY_S:
            return
        self._told_s = now_s
        self.note(f"{self._unit.label}: {self._done + self._asked} of {self._unit.n_items}, {figures}")

    def note(self, text: str) -> None:
        self._bar.console.print(text, markup=False)

    def _project(self, left_s: float | None) -> None:
        """Once, early: how long the whole will take; and as soon as it shows, that a time limit will cut it."""
        if left_s is None or self._asked < ENOUGH_ITEMS:
            return
        passed_s, limit_s = clock.monotonic() - self._started_s, self._plan.time_limit_s
        if limit_s is not None and passed_s + left_s > limit_s:
            self._warn(left_s, limit_s - passed_s)
        elif not self._has_projected and len(self._plan.units) > 1:
            self.note(f"Projected for this machine: {_duration(passed_s + left_s)} in all.")
        self._has_projected = True

    def _warn(self, left_s: float, allowed_s: float) -> None:
        if self._has_warned:
            return
        self._has_warned = True
        self.note(
            f"At this pace {_duration(left_s)} are needed, but the time limit leaves {_duration(allowed_s)}: about "
            f"{max(0.0, allowed_s) / left_s:.0%} of the questions left will be asked. What is finished is kept; "
            "--resume goes on."
        )


def _duration(seconds: float) -> str:
    seconds = max(0, round(seconds))
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"
