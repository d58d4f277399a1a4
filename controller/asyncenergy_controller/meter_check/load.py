"""What the device under test really draws: power as straight lines over time, and its exact integral."""

from bisect import bisect_right
from collections.abc import Iterable

Points = Iterable[tuple[float, float]]
"""(seconds, watts) in the order of time; two points at one time are a step."""


class Load:
    """Power and energy at any time. Before the first point and after the last the power stays as it is there."""

    def __init__(self, start_s: float, power_w: float) -> None:
        self._times_s = [start_s]
        self._powers_w = [power_w]
        self._energies_j = [0.0]

    def play(self, start_s: float, points: Points) -> None:
        """Go on as now until `start_s`, then along `points`, whose times count from there."""
        self._add(start_s, self._powers_w[-1])
        for after_s, power_w in points:
            self._add(start_s + after_s, power_w)

    def power_w(self, at_s: float) -> float:
        return self._power_w(self._before(at_s), at_s)

    def energy_j(self, at_s: float) -> float:
        """Return the joules drawn since the start of the load."""
        i = self._before(at_s)
        mean_w = (self._powers_w[i] + self._power_w(i, at_s)) / 2
        return self._energies_j[i] + (at_s - self._times_s[i]) * mean_w

    def _add(self, at_s: float, power_w: float) -> None:
        joules = (at_s - self._times_s[-1]) * (power_w + self._powers_w[-1]) / 2
        self._energies_j.append(self._energies_j[-1] + joules)
        self._times_s.append(at_s)
        self._powers_w.append(power_w)

    def _before(self, at_s: float) -> int:
        return max(bisect_right(self._times_s, at_s) - 1, 0)

    def _power_w(self, i: int, at_s: float) -> float:
        """Power on the line from point i to the next."""
        last = i == len(self._times_s) - 1 or at_s < self._times_s[0]
        if last:
            return self._powers_w[i]
        share = (at_s - self._times_s[i]) / (self._times_s[i + 1] - self._times_s[i])
        return self._powers_w[i] + share * (self._powers_w[i + 1] - self._powers_w[i])
