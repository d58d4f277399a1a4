"""The three readings of a run as they grow while its questions are answered."""

from collections.abc import Sequence
from dataclasses import dataclass

from asyncenergy_controller.metrics.recording import Reading, Recording

from bench.presentation import fixed
from bench.selectors import RunDetail

STEPS = 40


@dataclass(frozen=True, slots=True)
class Moment:
    """Joules since the first question began, `seconds` after that; a reading that the run lacks is None."""

    seconds: float
    counter_j: float | None
    integrated_j: float | None
    wall_j: float | None

    @property
    def is_measured(self) -> bool:
        return any(joules is not None for joules in (self.counter_j, self.integrated_j, self.wall_j))


def moments(run: RunDetail) -> list[Moment]:
    """Equal steps from the first question to the end of the last one, where the readings themselves stand; empty for a
    run without any."""
    boundary = run.config.get("energy_boundary")
    recording = Recording.of({"trace": run.trace, "items": run.items, "energy_boundary": boundary})
    if recording.window is None:
        return []
    start_s, end_s = recording.window
    at = [start_s + (end_s - start_s) * step / STEPS for step in range(STEPS)] + [end_s]
    grown = [_grown(reading, at) for reading in (recording.counter, recording.integration, recording.wall)]
    found = [Moment(at_s - start_s, *values) for at_s, *values in zip(at, *grown, strict=True)]
    return found if found[-1].is_measured else []


def _grown(reading: Reading, at_s: Sequence[float]) -> list[float | None]:
    """Joules from the first instant to each; all None where the reading does not hold for the whole."""
    if reading.channel is None or reading.between(at_s[0], at_s[-1])[0] is None:
        return [None] * len(at_s)
    return [reading.channel.between(at_s[0], moment_s) for moment_s in at_s]


def label(found: Sequence[Moment]) -> str:
    """What the chart shows, for those who do not see it."""
    if not found:
        return ""
    last = found[-1]
    named = (("counter", last.counter_j), ("integrated power", last.integrated_j), ("wall meter", last.wall_j))
    ends = ", ".join(f"{name} {fixed(joules)} J" for name, joules in named if joules is not None)
    return f"Energy since the first question over time, up to {ends}. The table holds the figures."
