"""The cases: what a device really drew, what its sensors made of it, and what a meter may say."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from asyncenergy_controller.meter_check.nvml import Faults

SAMPLE_S = 0.2
"""A meter may be off by one sample at the highest power."""


@dataclass(frozen=True, slots=True)
class Window:
    """One measurement: the load as (seconds, watts) with straight lines between, and its energy."""

    load: tuple[tuple[float, float], ...]
    joules: float

    @property
    def duration_s(self) -> float:
        return self.load[-1][0]

    @property
    def tolerance_j(self) -> float:
        return SAMPLE_S * max(power_w for _, power_w in self.load)

    def integral_j(self) -> float:
        """Return the energy that follows from the load."""
        return sum((t1 - t0) * (w0 + w1) / 2 for (t0, w0), (t1, w1) in pairwise(self.load))


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that meters get wrong."""

    name: str
    about: str
    windows: tuple[Window, ...]
    answer: Literal["energy", "energy or none", "none"] = "energy"
    """Whether a meter must know the energy, may say that it does not, or can't know it."""
    faults: Faults = field(default_factory=Faults)
    device: Literal["gpu", "cpu"] = "gpu"

    @property
    def expected_j(self) -> float | None:
        return None if self.answer == "none" else sum(window.joules for window in self.windows)


def flat(seconds: float, power_w: float, joules: float) -> Window:
    return Window(((0, power_w), (seconds, power_w)), joules)


def steps(seconds: float, powers_w: tuple[float, ...], joules: float) -> Window:
    """Each power for so many seconds."""
    edges = [(i * seconds, (i + 1) * seconds, power_w) for i, power_w in enumerate(powers_w)]
    return Window(tuple((t_s, power_w) for start_s, end_s, power_w in edges for t_s in (start_s, end_s)), joules)


CASES = (
    Case("flat", "100 W for 10 s", (flat(10, 100, 1000),)),
    Case("step", "100 W for 5 s, then 300 W for 5 s", (steps(5, (100, 300), 2000),)),
    Case("pulse", "30 W, 300 W and 30 W for 5 s each", (steps(5, (30, 300, 30), 1800),)),
    Case("staircase", "100 W to 400 W and back, 2 s a step", (steps(2, (100, 200, 300, 400, 300, 200, 100), 3200),)),
    Case(
        "counter_reset",
        "200 W for 20 s; after 10 s the driver is loaded anew and the counter starts from 0",
        (flat(20, 200, 4000),),
        answer="energy or none",
        faults=Faults(counter_resets_at_s=10),
    ),
    Case(
        "late_first_reading",
        "100 W for 20 s; the counter stands at 5 MJ and can't be read in the first 3 s",
        (flat(20, 100, 2000),),
        answer="energy or none",
        faults=Faults(counter_reads_from_s=3),
    ),
    Case(
        "unsupported_counter",
        "26 W for 100 s on a board that has no counter, only power",
        (flat(100, 26, 2600),),
        answer="energy or none",
        faults=Faults(has_counter=False),
    ),
    Case(
        "gap",
        "60 s without a counter, of which the driver does not answer for 40 s while the load is 5 times as high",
        (Window(((0, 100), (10, 100), (10, 500), (50, 500), (50, 100), (60, 100)), 22_000),),
        answer="none",
        faults=Faults(has_counter=False, silent_s=(10, 50)),
    ),
    Case(
        "sleep",
        "100 W for 40 s; halfway the machine sleeps for 10 minutes and draws nothing",
        (flat(40, 100, 4000),),
        answer="energy or none",
        faults=Faults(suspend_s=(20, 600)),
    ),
    Case(
        "nan",
        "from 100 W up to 300 W and back in 20 s, no counter; each 7th power reading is not a number",
        (Window(((0, 100), (10, 300), (20, 100)), 4000),),
        answer="energy or none",
        faults=Faults(has_counter=False, nan_every=7),
    ),
    Case("unit_slip", "280 W for 60 s; a wrong prefix is a factor of 1000", (flat(60, 280, 16_800),)),
    Case(
        "two_windows", "100 W for 10 s, then 200 W for 10 s, each a window", (flat(10, 100, 1000), flat(10, 200, 2000))
    ),
    Case("long_window", "300 W for 10 minutes, longer than any buffer", (flat(600, 300, 180_000),)),
    Case(
        "wrap",
        "a CPU package at 600 W for 150 s; its counter starts again twice",
        (flat(150, 600, 90_000),),
        device="cpu",
    ),
)
