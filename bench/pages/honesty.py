"""What a reader needs in order to judge a run's figure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.pages.words import BOUNDARIES, SOURCES, in_words
from bench.presentation import between, fixed, with_unit
from bench.selectors import RunDetail


@dataclass(frozen=True, slots=True)
class Honesty:
    """One field; `value` None means not recorded."""

    term: str
    value: str | None
    note: str = ""


MEASURES = (
    ("coverage_pct", "%", 1, "Coverage", "share of the run without missing samples"),
    ("longest_gap_s", "s", 2, "Longest gap between samples", ""),
    ("thermal_throttle_pct", "%", 1, "Thermal throttling", "share of samples that heat or the power brake slowed"),
    ("power_cap_throttle_pct", "%", 1, "At the power cap", "share of samples"),
    ("other_processes", "", 0, "Other processes on the device", "at most, at one time"),
    ("truncated_pct", "%", 1, "Truncated answers", "cut at the token limit; a cut answer still costs energy"),
    ("first_item_ratio", "×", 2, "First item", "its energy per token against the median of the others"),
    ("phase_lock_r", "", 2, "Phase lock", "0 is none; above 0.5 the counter may alias with the questions"),
)


def honesty(run: RunDetail) -> list[Honesty]:
    """What was metered and how well, field by field."""
    figures = run.figures
    return [
        Honesty("What was metered", in_words(BOUNDARIES, run.config.get("energy_boundary"))),
        Honesty("Source of the headline", in_words(SOURCES, figures.get("energy_source"))),
        Honesty("Power field read", _field_names(run.trace.get("power_field"))),
        Honesty("Temperature, start to end", _temperatures(figures)),
        *(
            Honesty(term, _written(figures.get(name), unit, places), note)
            for name, unit, places, term, note in MEASURES
        ),
        Honesty("Suite", run.suite),
        Honesty("Methodology", run.methodology_version),
    ]


def _written(value: float | None, unit: str, decimals: int) -> str | None:
    if value is None:
        return None
    return with_unit(fixed(value, decimals), unit) if unit else fixed(value, decimals)


def _temperatures(figures: Mapping[str, Any]) -> str | None:
    start, end = figures.get("gpu_temp_c_start"), figures.get("gpu_temp_c_end")
    return None if start is None or end is None else with_unit(between(fixed(start, 0), fixed(end, 0)), "°C")


def _field_names(field: Any) -> str | None:
    """The trace names one field for all samples, or one for each."""
    names = {str(name) for name in field if name} if isinstance(field, list) else {field} - {None}
    return ", ".join(sorted(names)) or None
