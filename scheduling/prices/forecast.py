"""A forecast of prices that are not known yet, from the same time of recent like days. Pure numpy.

Two things are forecast apart: the shape of a day (how each of its slots differs from the day's mean), which changes
slowly, and its level, which changes fast. Recent days weigh more, and Saturdays and Sundays are kinds of their own.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from scheduling.prices.coverage import local_day
from scheduling.prices.types import SpotPoint
from scheduling.prices.units import PLACES

Floats = NDArray[np.float64]
Days = Mapping[date, Floats]
"""By local date, the mean price of each slot of the day by its wall time; NaN where it is not known."""

HISTORY_DAYS = 56
SHAPE_HALF_LIFE_D = 21.0
LEVEL_HALF_LIFE_D = 3.0
OTHER_KIND = 0.1  # what a day of another kind counts
DAY_MIN = 24 * 60


def day_forecast(history: Days, day: date) -> Floats | None:
    """Return the expected price of each slot of `day` from days before it; None where no such day is known."""
    past = sorted(d for d in history if 0 < (day - d).days <= HISTORY_DAYS and _is_nearly_whole(history[d]))
    if not past:
        return None
    prices = np.array([history[d] for d in past])
    age_d = np.array([(day - d).days for d in past], dtype=np.float64)
    like = np.where([_kind(d) == _kind(day) for d in past], 1.0, OTHER_KIND)
    means = np.nanmean(prices, axis=1)
    level = np.average(means, weights=like * 0.5 ** (age_d / LEVEL_HALF_LIFE_D))
    return np.asarray(level + _weighted(prices - means[:, None], like * 0.5 ** (age_d / SHAPE_HALF_LIFE_D)))


def _is_nearly_whole(slots: Floats) -> bool:
    """A part of a day says nothing about its level; on the day of a clock change an hour may be missing."""
    return bool(np.isnan(slots).mean() < 0.1)


def _kind(day: date) -> int:
    """Weekdays, Saturdays, Sundays."""
    return max(day.weekday() - 4, 0)


def _weighted(rows: Floats, weights: Floats) -> Floats:
    """The mean of each column over the rows that have it; a column that no row has takes the day's mean."""
    known = ~np.isnan(rows)
    total = (weights[:, None] * known).sum(axis=0)
    summed = (weights[:, None] * np.where(known, rows, 0.0)).sum(axis=0)
    return np.asarray(np.divide(summed, total, out=np.zeros(rows.shape[1]), where=total > 0))


def slot_minutes(points: Sequence[SpotPoint]) -> int:
    """The market's step as far as a forecast follows it: 15, 30 or 60 minutes."""
    lengths = [(point.end - point.start).total_seconds() / 60 for point in points]
    shortest = float(np.median(lengths)) if lengths else 60.0
    return 15 if shortest <= 15 else 30 if shortest <= 30 else 60


def by_local_day(points: Sequence[SpotPoint], zone: ZoneInfo, first: date, last: date, step_min: int) -> Days:
    """Return the energy-weighted mean price of each slot of each local date from `first` to `last`.

    A wall time that comes twice on a day is the mean of both; one that a day leaves out is NaN.
    """
    edges, paid, known = _integrals(points)
    days: dict[date, Floats] = {}
    for day in (first + timedelta(days=i) for i in range((last - first).days + 1)):
        slots = day_slots(zone, day, step_min)
        begins = np.array([begin.timestamp() for begin, _, _ in slots])
        ends = np.array([end.timestamp() for _, end, _ in slots])
        covered = np.interp(ends, edges, known) - np.interp(begins, edges, known)
        money = np.interp(ends, edges, paid) - np.interp(begins, edges, paid)
        full = covered >= (ends - begins) - 1e-6
        means = np.where(full, money / (ends - begins), np.nan)
        days[day] = _by_label([label for _, _, label in slots], means, step_min)
    return days


def _integrals(points: Sequence[SpotPoint]) -> tuple[Floats, Floats, Floats]:
    """Edges in Unix time, the integral of the price up to each, and the known seconds up to each."""
    edges: list[float] = []
    paid, known = [0.0], [0.0]
    for point in points:
        begin, end = point.start.timestamp(), point.end.timestamp()
        if edges and begin > edges[-1]:
            paid.append(paid[-1])
            known.append(known[-1])
            edges.append(begin)
        elif not edges:
            edges.append(begin)
        paid.append(paid[-1] + float(point.price_per_kwh) * (end - begin))
        known.append(known[-1] + end - begin)
        edges.append(end)
    return np.array(edges or [0.0]), np.array(paid), np.array(known)


def day_slots(zone: ZoneInfo, day: date, step_min: int) -> list[tuple[datetime, datetime, int]]:
    """Return (start, end, slot by wall time) through a local date; 23 or 25 hours of them where a clock changes."""
    begin, stop = local_day(zone, day)
    step = timedelta(minutes=step_min)
    slots: list[tuple[datetime, datetime, int]] = []
    while begin < stop:
        wall = begin.astimezone(zone)
        slots.append((begin, min(begin + step, stop), (wall.hour * 60 + wall.minute) // step_min))
        begin += step
    return slots


def _by_label(labels: Sequence[int], values: Floats, step_min: int) -> Floats:
    sums, counts = np.zeros(DAY_MIN // step_min), np.zeros(DAY_MIN // step_min)
    np.add.at(sums, labels, values)
    np.add.at(counts, labels, 1)
    return np.asarray(np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0))


def forecast_points(known: Sequence[SpotPoint], zone: ZoneInfo, start: datetime, end: datetime) -> list[SpotPoint]:
    """Return forecast prices from `start` to `end` from the `known` ones before; none where nothing is known."""
    if not known:
        return []
    step_min = slot_minutes(known)
    first = max(start.astimezone(zone).date() - timedelta(days=HISTORY_DAYS), known[0].start.astimezone(zone).date())
    last = known[-1].end.astimezone(zone).date()
    history = by_local_day(known, zone, first, last, step_min)
    points: list[SpotPoint] = []
    for day in _dates(zone, start, end):
        expected = day_forecast(history, day)
        slots = day_slots(zone, day, step_min) if expected is not None else []
        points += [
            SpotPoint(max(a, start), min(b, end), Decimal(float(expected[label])).quantize(PLACES))  # type: ignore[index]  # not None where there are slots
            for a, b, label in slots
            if a < end and b > start
        ]
    return points


def _dates(zone: ZoneInfo, start: datetime, end: datetime) -> list[date]:
    first, last = start.astimezone(zone).date(), (end - timedelta(microseconds=1)).astimezone(zone).date()
    return [first + timedelta(days=i) for i in range((last - first).days + 1)]
