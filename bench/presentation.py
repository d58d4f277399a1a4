"""How a number is written and where it is drawn. Pure: no Django, no I/O, no figure of its own.

A value that is None is not written here: the page says in words why it is missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, isfinite, log10

NARROW_SPACE = "\u202f"
MINUS = "\u2212"
EN_DASH = "\u2013"
FINE_TICKS = (1, 2, 5)


def _signed(text: str) -> str:
    """Use the true minus sign, and none on a figure that rounds to zero."""
    if not text.startswith("-"):
        return text
    return MINUS + text[1:] if text.strip("-0.,") else text[1:]


def fixed(value: float, decimals: int = 1) -> str:
    """Write a figure with a fixed number of decimals and commas for thousands: ``5,838.7``."""
    return _signed(f"{value:,.{decimals}f}")


def significant(value: float, digits: int = 3) -> str:
    """Write a figure with `digits` significant ones, whole figures in full: ``0.917``, ``31.4``, ``1,724``."""
    if value == 0:
        return "0"
    size = floor(log10(abs(float(f"{value:.{digits - 1}e}"))))
    return _signed(f"{value:,.{max(0, digits - 1 - size)}f}")


def percent(share: float, decimals: int = 1) -> str:
    """Write a share of 0..1 in percent, without the sign: ``17.5``."""
    return fixed(100 * share, decimals)


def with_sign(value: float, decimals: int = 1) -> str:
    """Write a difference with its sign: ``+0.2``, ``−0.3``, ``0.0``."""
    text = fixed(value, decimals)
    return f"+{text}" if value > 0 and text.strip("0.,") else text


def between(low: str, high: str) -> str:
    """Join two written figures to a range: ``102–219``; a minus inside asks for words."""
    joiner = " to " if MINUS in low + high else EN_DASH
    return f"{low}{joiner}{high}"


def with_unit(text: str, unit: str) -> str:
    """Put a narrow no-break space before the unit: ``31.4 J``."""
    return f"{text}{NARROW_SPACE}{unit}"


def duration(seconds: float) -> str:
    """Write a time so that it can be grasped: ``47.2 s``, ``3 min 5 s``, ``2 h 5 min``."""
    if round(seconds, 1) < 60:
        return with_unit(fixed(seconds), "s")
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{with_unit(str(minutes), 'min')} {with_unit(str(rest), 's')}"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{with_unit(fixed(hours, 0), 'h')} {with_unit(str(minutes), 'min')}"


def counted(n: int, one: str, many: str | None = None) -> str:
    """Write a count with its noun: ``1 machine``, ``1,204 runs``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _step_down(value: float) -> float:
    """Return the greatest 1, 2 or 5 × 10ⁿ that is not above `value`."""
    power = 10.0 ** floor(log10(value))
    return max(step * power for step in FINE_TICKS if step * power <= value * (1 + 1e-9))


def _step_up(value: float) -> float:
    """Return the least 1, 2 or 5 × 10ⁿ that is not below `value`."""
    power = 10.0 ** floor(log10(value))
    return min(step * power for step in (*FINE_TICKS, 10) if step * power >= value * (1 - 1e-9))


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on a scale: its place in percent of the width, its text, and how the text is anchored."""

    x: str
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Interval:
    """Places in percent of the width: the value, its interval, and the wider one between machines."""

    value: str
    low: str | None
    high: str | None
    wide_low: str | None
    wide_high: str | None


def share_interval(value: float, low: float, high: float) -> Interval:
    """A share of 0..1 with its interval on a scale from 0 to 100 %."""
    return Interval(f"{100 * value:.1f}%", f"{100 * low:.1f}%", f"{100 * high:.1f}%", None, None)


@dataclass(frozen=True, slots=True)
class LogScale:
    """A logarithmic scale that all rows of one view share."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Sequence[float | None]) -> "LogScale | None":
        """Cover all positive values; None where there is nothing to draw."""
        drawn = [value for value in values if value is not None and isfinite(value) and value > 0]
        if not drawn:
            return None
        low, high = _step_down(min(drawn)), _step_up(max(drawn))
        return cls(low, high) if high > low else cls(low / 2, high * 2)

    def x(self, value: float) -> str:
        """Return the place of a positive value, 0.0 to 100.0 percent; ends outside stop at the edge."""
        share = log10(max(value, self.low) / self.low) / log10(self.high / self.low)
        return f"{100 * min(share, 1.0):.1f}%"

    def ticks(self) -> list[Tick]:
        """Mark the powers of ten, and 2 and 5 times them where those are fewer than two."""
        return [self._tick(value) for value in self.tick_values()]

    def tick_values(self, *, most: int = 0) -> list[float]:
        """As for `ticks`; also 2 and 5 times the powers where all together are at most `most`."""
        coarse, fine = self._marks((1,)), self._marks(FINE_TICKS)
        return fine if len(coarse) < 2 or len(fine) <= most else coarse

    def _marks(self, steps: Sequence[int]) -> list[float]:
        powers = range(floor(log10(self.low)), floor(log10(self.high)) + 1)
        values = [step * 10.0**power for power in powers for step in steps]
        return [value for value in values if self.low * (1 - 1e-9) <= value <= self.high * (1 + 1e-9)]

    def _tick(self, value: float) -> Tick:
        x = self.x(value)
        anchor = {"0.0%": "start", "100.0%": "end"}.get(x, "middle")
        return Tick(x, f"{value:,.10g}", anchor)

    def interval(
        self, value: float, bounds: tuple[float, float] | None, wide: tuple[float, float] | None = None
    ) -> Interval | None:
        """Place a value, its interval and the wider whisker; None where the value cannot be drawn."""
        if value <= 0:
            return None
        low, high = (self.x(end) for end in bounds) if bounds else (None, None)
        wide_low, wide_high = (self.x(end) for end in wide) if wide else (None, None)
        return Interval(self.x(value), low, high, wide_low, wide_high)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a whole: its share, and its place and width in percent of a stacked bar."""

    share: float
    x: str
    width: str


def stacked(values: Sequence[float]) -> list[Part] | None:
    """Lay parts end to end; None where a negative part or an empty whole forbids it (never clamped)."""
    total = sum(values)
    if total <= 0 or min(values) < 0:
        return None
    starts = [sum(values[:i]) for i in range(len(values))]
    return [
        Part(value / total, f"{100 * start / total:.2f}%", f"{100 * value / total:.2f}%")
        for start, value in zip(starts, values, strict=True)
    ]


def thinned(values: Sequence[float | None], limit: int) -> list[int]:
    """Choose about `limit` indexes that keep the lowest, the highest and a missing sample of each stretch.

    Every chosen index is a real sample: nothing is averaged, no peak is lost, and a gap stays a gap.
    """
    if len(values) <= limit:
        return list(range(len(values)))
    stretches = max(1, (limit - 2) // 3)
    edges = [1 + i * (len(values) - 2) // stretches for i in range(stretches + 1)]
    chosen = {0, len(values) - 1}
    for start, end in pairwise(edges):
        chosen.update(_extremes(values, start, end))
    return sorted(chosen)


def _extremes(values: Sequence[float | None], start: int, end: int) -> set[int]:
    measured = [(value, i) for i in range(start, end) if (value := values[i]) is not None]
    missing = next((i for i in range(start, end) if values[i] is None), None)
    kept = {i for _, i in (min(measured), max(measured))} if measured else set()
    return kept if missing is None else kept | {missing}
