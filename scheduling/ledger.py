"""What a run really cost, and what it would have cost without a plan: at the prices of the minutes themselves. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from math import fsum

from scheduling.optimizer import Job, PricePoint, random_start_mean
from scheduling.predictor import Profile
from scheduling.prices.coverage import mean_price
from scheduling.prices.layers import touching
from scheduling.prices.types import SpotPoint

KILO = Decimal(1000)
Step = tuple[datetime, datetime, float]
"""From one instant to another, with the weight that its price has: energy, in any unit."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The frozen alternatives of one occurrence: when it would have begun at once, and where it might have begun."""

    pieces: tuple[tuple[datetime, datetime], ...]
    window: tuple[datetime, datetime]
    reserve_s: float
    profile: Profile


def steps_at(start: datetime, profile: Profile, *, weight: float | None = None) -> list[Step]:
    """Return a profile as steps from an instant on; together they weigh `weight`, or the profile's own energy."""
    energy = fsum(seconds * watts for seconds, watts in profile)
    scale = 1.0 if weight is None else weight / energy
    steps: list[Step] = []
    for seconds, watts in profile:
        end = start + timedelta(seconds=seconds)
        steps.append((start, end, seconds * watts * scale))
        start = end
    return steps


def price_of(points: Sequence[SpotPoint], steps: Sequence[Step]) -> Decimal | None:
    """Return the mean price per kWh of energy drawn in these steps; None where a step has no price."""
    total = Decimal(0)
    energy = Decimal(0)
    for begin, end, weight in steps:
        near = touching(points, SpotPoint(begin, end, KILO))
        price = mean_price(near, begin, end) if weight else Decimal(0)
        if price is None:
            return None
        total += price * Decimal(weight)
        energy += Decimal(weight)
    return total / energy if energy else None


def earliest_price(points: Sequence[SpotPoint], baseline: Baseline) -> Decimal | None:
    """Return the mean price per kWh of the run begun as early as it could have."""
    if len(baseline.pieces) > 1:
        even = [(begin, end, (end - begin).total_seconds()) for begin, end in baseline.pieces]
        return price_of(points, even)
    return price_of(points, steps_at(baseline.pieces[0][0], baseline.profile))


def random_price(points: Sequence[SpotPoint], baseline: Baseline) -> Decimal | None:
    """Return the mean price per kWh of the run begun at a random moment of its window."""
    begin, deadline = baseline.window
    near = touching(points, SpotPoint(begin, deadline, KILO))
    energy_kwh = sum(seconds * watts for seconds, watts in baseline.profile) / 3.6e6
    if mean_price(near, begin, deadline) is None or not energy_kwh:
        return None
    job = Job("", baseline.reserve_s, baseline.profile, begin, deadline)
    prices = [PricePoint(p.start, p.end, float(p.price_per_kwh)) for p in near]
    cost = random_start_mean(prices, job, now=begin)
    return None if cost is None else Decimal(cost / energy_kwh)


def money_of(price_per_kwh: Decimal | None, energy_wh: float) -> Decimal | None:
    return None if price_per_kwh is None else (price_per_kwh * Decimal(energy_wh) / KILO).quantize(Decimal("1e-9"))
