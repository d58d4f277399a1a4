"""Two to four rows of one task side by side, their intervals on one scale."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asyncenergy_controller.metrics import Standing, overlap

from bench.energies import Kind, kind_of_energy
from bench.pages import configuration
from bench.pages.board import Line, Row, board
from bench.pages.words import SOURCES, STOCK, in_words, other_energy
from bench.presentation import Interval, LogScale, between, percent, share_interval, significant, with_unit

FEWEST, MOST = 2, 4


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of each row; None is not recorded."""

    term: str
    values: list[str | None]


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure of one row with its interval; `text` None is not measured."""

    text: str | None
    sub: str | None = None
    drawn: Interval | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of each row. `css` says which quantity the intervals show."""

    term: str
    cells: list[Cell]
    css: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that the page shows about the rows."""

    lines: list[Line]
    scale: LogScale | None
    verdicts: list[str]
    measures: list[Measure]
    different: list[Setting]
    same: list[Setting]


_FIGURES: tuple[tuple[str, str, str], ...] = (
    ("joules_per_item", "Joules per item", "J"),
    ("joules_per_token", "Joules per token", "J"),
    ("pooled_tokens_per_second", "Speed, pooled", "tok/s"),
    ("ttft_p50_s", "First token after", "s"),
)
_COUNTS = (("n_items", "Distinct items"), ("n_runs", "Runs"), ("n_nodes", "Machines"))


def comparison(rows: Sequence[Row], configs: Mapping[str, Mapping[str, Any]]) -> Comparison:
    """Compare rows of one task in the order given; `configs` are their settings by configuration key."""
    drawn = board(rows, sort="model")
    lines = drawn.lines
    of_rows = [configs.get(row["config_key"], row) for row in rows]
    names = dict.fromkeys(name for config in of_rows for name in config if configuration.is_setting(name))
    settings = [_setting(name, of_rows) for name in names] + [_sources(rows)]
    return Comparison(
        lines=lines,
        scale=drawn.scale,
        verdicts=_verdicts(rows),
        measures=[_headline(lines), _accuracy(rows), *_figures(rows)],
        different=[setting for setting in settings if len(set(setting.values)) > 1],
        same=[setting for setting in settings if len(set(setting.values)) == 1 and setting.values[0]],
    )


def _headline(lines: Sequence[Line]) -> Measure:
    return Measure("Joules per correct answer", [_headline_cell(line) for line in lines])


def _headline_cell(line: Line) -> Cell:
    row = line.row
    if line.none_correct:
        return Cell("undefined", f"0 of {row['n_items']} correct")
    low, high = row["jpc_ci_low"], row["jpc_ci_high"]
    sub = between(significant(low), significant(high)) if low is not None else "interval withheld"
    return Cell(_written(row["joules_per_correct_answer"], "J"), sub, line.drawn)


def _accuracy(rows: Sequence[Row]) -> Measure:
    return Measure("Accuracy", [_accuracy_cell(row) for row in rows], "is-accuracy")


def _accuracy_cell(row: Row) -> Cell:
    value, low, high = row["accuracy"], row["accuracy_ci_low"], row["accuracy_ci_high"]
    if value is None or low is None:
        return Cell(None if value is None else with_unit(percent(value), "%"))
    sub = between(percent(low), percent(high))
    return Cell(with_unit(percent(value), "%"), sub, share_interval(value, low, high))


def _figures(rows: Sequence[Row]) -> list[Measure]:
    figures = [Measure(term, [Cell(_written(row[name], unit)) for row in rows]) for name, term, unit in _FIGURES]
    counts = [Measure(term, [Cell(_count(row[name])) for row in rows]) for name, term in _COUNTS]
    return [*figures, Measure("Over machines", [Cell(_spread(row)) for row in rows]), *counts]


def _written(value: float | None, unit: str) -> str | None:
    return None if value is None else with_unit(significant(value), unit)


def _count(value: int | None) -> str | None:
    return None if value is None else f"{value:,}"


def _spread(row: Row) -> str:
    low, high = row["spread_min"], row["spread_max"]
    return "one machine" if low is None else with_unit(between(significant(low), significant(high)), "J")


def _setting(name: str, configs: Sequence[Mapping[str, Any]]) -> Setting:
    return Setting(configuration.term(name), [_value(name, config.get(name)) for config in configs])


def _value(name: str, value: Any) -> str | None:
    return STOCK.get(name) if value is None else configuration.plain(name, value)


def _sources(rows: Sequence[Row]) -> Setting:
    return Setting("Source of the energy", [in_words(SOURCES, row["energy_source"]) for row in rows])


def _verdicts(rows: Sequence[Row]) -> list[str]:
    """The cheapest row of each kind of energy against each other one of it: how far apart, or that they can't be told
    apart. Rows of different kinds measure different things."""
    measured = [row for row in rows if row["joules_per_correct_answer"]]
    kinds: dict[Kind, list[Row]] = defaultdict(list)
    for row in sorted(measured, key=lambda row: row["joules_per_correct_answer"]):
        kinds[kind_of_energy(row)].append(row)
    cheapest = [ranked[0] for ranked in kinds.values()]
    apart = [_apart(rows, cheapest[0], other) for other in cheapest[1:]]
    return [*apart, *(_verdict(rows, ranked[0], other) for ranked in kinds.values() for other in ranked[1:])]


def _apart(rows: Sequence[Row], *two: Row) -> str:
    first, second = sorted(two, key=rows.index)
    return other_energy(letter(rows.index(first)), first, letter(rows.index(second)), second)


def _verdict(rows: Sequence[Row], best: Row, other: Row) -> str:
    first, second = (letter(rows.index(row)) for row in (best, other))
    if _standing(best).low is None or _standing(other).low is None:
        return f"{first} and {second}: one has no interval, so how sure the difference is can’t be said."
    if overlap(_standing(best), _standing(other)):
        return f"{first} and {second} can’t be told apart in energy: their intervals overlap."
    times = other["joules_per_correct_answer"] / best["joules_per_correct_answer"]
    return f"{second} needs {significant(times)} × the energy of {first} for a correct answer."


def _standing(row: Row) -> Standing:
    return Standing(row["joules_per_correct_answer"], row["jpc_wide_low"], row["jpc_wide_high"])


def letter(number: int) -> str:
    """A column's name: A to D."""
    return "ABCD"[number]
