"""The long tables of a run, cut to what a page can hold; every line is a recorded one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.pages.words import ENDS, in_words
from bench.presentation import thinned

SAMPLES_SHOWN = 600
ITEMS_SHOWN = 500


@dataclass(frozen=True, slots=True)
class Sample:
    """One reading of the trace; what was not read is None."""

    t_s: float
    power_w: float | None
    counter_j: float | None
    temp_c: float | None
    wall_w: float | None


@dataclass(frozen=True, slots=True)
class Item:
    """One question: `bar` is its energy as a share of the dearest item's, in percent."""

    number: int
    start_s: float
    seconds: float
    prompt_tokens: int | None
    completion_tokens: int | None
    energy_j: float | None
    bar: str | None
    verdict: str
    answer: str | None
    ended: str | None


def is_measured(sample: Sample) -> bool:
    """Whether anything was read at this instant."""
    return any(value is not None for value in (sample.power_w, sample.counter_j, sample.temp_c, sample.wall_w))


def samples(trace: Mapping[str, Any]) -> list[Sample]:
    """At most some hundred samples, the peaks and gaps among them."""
    times = trace.get("t_s") or []
    power = _column(trace, "gpu_power_w", len(times))
    counter, wall = _counter_j(trace, len(times)), _column(trace, "wall_power_w", len(times))
    temperature = _column(trace, "gpu_temp_c", len(times))
    kept = thinned(power, SAMPLES_SHOWN)
    return [Sample(times[i], power[i], counter[i], temperature[i], wall[i]) for i in kept]


def _column(table: Mapping[str, Any], name: str, length: int) -> list[Any]:
    column = table.get(name)
    return column if isinstance(column, list) else [None] * length


def _counter_j(trace: Mapping[str, Any], length: int) -> list[float | None]:
    millijoules = _column(trace, "gpu_energy_mj", length)
    if any(value is not None for value in millijoules):
        return [None if value is None else value / 1e3 for value in millijoules]
    return [None if value is None else value / 1e6 for value in _column(trace, "cpu_energy_uj", length)]


def items(columns: Mapping[str, Any]) -> list[Item]:
    """The first items with their energies, as far as a page can hold them."""
    total = len(columns.get("index") or [])
    energies, dearest = _column(columns, "energy_j", total), dearest_j(columns) or 0.0
    return [_item(columns, i, energies[i], dearest, total) for i in range(min(total, ITEMS_SHOWN))]


def dearest_j(columns: Mapping[str, Any]) -> float | None:
    """The energy of the dearest item, which the bars are drawn against."""
    return max((energy for energy in columns.get("energy_j") or [] if energy is not None), default=None)


def _item(columns: Mapping[str, Any], i: int, energy: float | None, dearest: float, total: int) -> Item:
    def cell(name: str) -> Any:
        return _column(columns, name, total)[i]

    start, score = cell("t_start_s"), cell("correct")
    return Item(
        number=i + 1,
        start_s=start,
        seconds=cell("t_end_s") - start,
        prompt_tokens=cell("prompt_tokens"),
        completion_tokens=cell("completion_tokens"),
        energy_j=energy,
        bar=f"{100 * energy / dearest:.1f}%" if energy is not None and energy >= 0 and dearest > 0 else None,
        verdict={1: "right", 0: "wrong"}.get(score, f"{score:.2f} of 1"),
        answer=cell("answer"),
        ended=in_words(ENDS, cell("finish_reason")),
    )
