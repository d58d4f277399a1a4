"""Energy at any instant within a trace, and of the items in it."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from .columns import Array, Numbers, require_same_length, to_array, to_times
from .totals import MAX_HOLE_S, counter_energy_j, trapezoid_j


@dataclass(frozen=True, slots=True)
class Channel:
    """Cumulative energy known at the samples; between them the power is linear in time (constant for a counter)."""

    t_s: Array
    energy_j: Array
    power_w: Array
    slope_w_per_s: Array

    @classmethod
    def of_power(cls, t_s: Array, power_w: Array) -> Self | None:
        """Trapezoid over the valid samples; None if there are fewer than two. Equal samples all count."""
        valid = ~np.isnan(power_w)
        t_s, power_w = t_s[valid], power_w[valid]
        if t_s.size < 2:
            return None
        steps_s = np.diff(t_s)
        energy_j = np.cumsum(trapezoid_j(steps_s, power_w[:-1], power_w[1:]))
        return cls(t_s, np.concatenate(([0.0], energy_j)), power_w[:-1], np.diff(power_w) / steps_s)

    @classmethod
    def of_counter(cls, t_s: Array, counter_j: Array) -> Self | None:
        """A counter that never falls, interpolated between its valid readings; None if fewer than two."""
        valid = ~np.isnan(counter_j)
        t_s, counter_j = t_s[valid], counter_j[valid]
        if t_s.size < 2:
            return None
        return cls(t_s, counter_j - counter_j[0], np.diff(counter_j) / np.diff(t_s), np.zeros(t_s.size - 1))

    def at(self, times_s: Array) -> Array:
        """Cumulative joules at these instants, NaN outside the sampled range and inside a hole of over 30 s."""
        left = np.clip(np.searchsorted(self.t_s, times_s, side="right") - 1, 0, self.t_s.size - 2)
        after_s, gap_s = times_s - self.t_s[left], self.t_s[left + 1] - self.t_s[left]
        energy_j = self.energy_j[left] + after_s * (self.power_w[left] + self.slope_w_per_s[left] * after_s / 2)
        beside = (after_s == 0) | (after_s == gap_s)
        known = beside | ((after_s > 0) & (after_s < gap_s) & (gap_s <= MAX_HOLE_S))
        return np.where(known, energy_j, np.nan)

    def between(self, start_s: float, end_s: float) -> float | None:
        """Joules from one instant to another, None unless both are known."""
        first, last = self.at(np.array([start_s, end_s])).tolist()
        return None if np.isnan(first) or np.isnan(last) else last - first

    def longest_gap_s(self, start_s: float, end_s: float) -> float:
        """Longest time between two neighbouring samples of which any part lies in the window."""
        first = max(int(np.searchsorted(self.t_s, start_s, side="right")) - 1, 0)
        last = int(np.searchsorted(self.t_s, end_s, side="left")) + 1
        return float(np.diff(self.t_s[first:last]).max(initial=0.0))


def item_energies_j(t_s: Numbers, counter_mj: Numbers, starts_s: Numbers, ends_s: Numbers) -> list[float | None]:
    """Energy of each item in J from a counter in mJ, interpolated at the item's start and end.

    At each instant the energy is divided equally among the items in flight, so the sum never exceeds the energy
    of the union of their windows. None for an item that reaches outside the sampled range, that has an edge (or the
    edge of one it shares with) in a hole of over 30 s, or in which the counter did not move, and for all items of a
    counter that fell. Raises ValueError for columns of different length, times that do not rise, or an item that ends
    before it starts.
    """
    times, counter = to_times(t_s), to_array(counter_mj, "counter_mj")
    starts, ends = to_array(starts_s, "starts_s"), to_array(ends_s, "ends_s")
    require_same_length(t_s=times, counter_mj=counter)
    require_same_length(starts_s=starts, ends_s=ends)
    if (ends < starts).any():
        at = int((ends < starts).argmax())
        raise ValueError(f"item {at} ends at {ends[at]} s, before it starts at {starts[at]} s")
    channel = None if counter_energy_j(counter.tolist()).reason else Channel.of_counter(times, counter / 1e3)
    if channel is None:
        return [None] * starts.size
    return [None if np.isnan(energy) else energy for energy in share_energy_j(channel, starts, ends).tolist()]


def share_energy_j(channel: Channel, starts_s: Array, ends_s: Array) -> Array:
    """Joules of each item, the energy of each instant divided equally among the items then in flight.

    NaN where nothing moved while the item ran: that is less than the counter resolves, not 0 J.
    """
    known = ~(np.isnan(starts_s) | np.isnan(ends_s))
    starts, ends = np.sort(starts_s[known]), np.sort(ends_s[known])
    edges = np.unique(np.concatenate((starts, ends)))
    energy_j = channel.at(edges)
    in_flight = np.searchsorted(starts, edges, side="right") - np.searchsorted(ends, edges, side="right")
    steps_j = np.diff(energy_j)
    shares = np.nan_to_num(steps_j) / np.maximum(in_flight[:-1], 1) * (in_flight[:-1] > 0)
    total = np.where(np.isnan(energy_j), np.nan, np.concatenate(([0.0], np.cumsum(shares)))[: edges.size])
    unknown_steps = np.concatenate(([0], np.cumsum(np.isnan(steps_j))))
    first, last = np.searchsorted(edges, starts_s[known]), np.searchsorted(edges, ends_s[known])
    items = np.full(starts_s.size, np.nan)
    items[known] = np.where(unknown_steps[first] == unknown_steps[last], total[last] - total[first], np.nan)
    return np.where((items == 0) & (ends_s > starts_s), np.nan, items)
