"""The leaderboard, row by row: ranks, bands, and the intervals on one shared scale."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from bench.presentation import Interval, LogScale, between, with_unit
from bench.selectors import DEFAULT_SORT

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A head cell: sorting by it, and whether the view is sorted by it now."""

    label: str
    css: str
    href: str
    aria_sort: str | None


@dataclass(frozen=True, slots=True)
class Mark:
    """An honesty mark: its words, its sentence, and the id of the popover that says it."""

    label: str
    sentence: str
    hint: str
    kind: str


@dataclass(frozen=True, slots=True)
class Extra:
    """A cell of a column that a reader asked for."""

    label: str
    value: float | None
    unit: str


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the board with everything that its cells need."""

    row: Row
    rank: str | None
    config: str
    drawn: Interval | None
    marks: list[Mark]
    extra: list[Extra] = field(default_factory=list)

    @property
    def none_correct(self) -> bool:
        return self.row["joules_per_correct_answer"] is None and self.row["accuracy"] == 0


@dataclass(frozen=True, slots=True)
class Board:
    """The bands of rows in order, and the scale that their intervals share."""

    bands: list[list[Line]]
    scale: LogScale | None

    @property
    def has_shared_ranks(self) -> bool:
        return any(len(band) > 1 for band in self.bands)

    @property
    def lines(self) -> list[Line]:
        return [line for band in self.bands for line in band]


# what a reader may add to the board: words and unit
EXTRA_COLUMNS = {
    "net_jpc": ("Net J / correct", "J"),
    "joules_per_item": ("Per item", "J"),
    "ttft_p50_s": ("First token", "s"),
    "mean_gpu_w": ("Mean power", "W"),
    "peak_gpu_mem_used_mib": ("Memory", "MiB"),
    "n_items": ("Items", ""),
    "n_runs": ("Runs", ""),
}
KINDS = {"submitters_word": "info", "not_rederivable": "info", "simulated": "stop", "withdrawn": "stop"}
SORTABLE = (
    ("model", "Configuration", ""),
    ("joules_per_correct_answer", "J / correct", "n"),
    ("-accuracy", "Accuracy", "n"),
    ("joules_per_token", "Per token", "n"),
    ("-pooled_tokens_per_second", "Speed", "n"),
    ("tier", "Tier", ""),
    ("-n_nodes", "Machines", "n"),
)


def columns(sort: str, link: Callable[[str], str]) -> dict[str, Column]:
    """Head cells by field; a column that is sorted already links to the other direction."""
    return {first.removeprefix("-"): _column(first, label, css, sort, link) for first, label, css in SORTABLE}


def plain_columns() -> dict[str, Column]:
    """Head cells of a table that is not sorted by its reader."""
    return {first.removeprefix("-"): Column(label, css, "", None) for first, label, css in SORTABLE}


def _column(first: str, label: str, css: str, sort: str, link: Callable[[str], str]) -> Column:
    name = first.removeprefix("-")
    if sort.removeprefix("-") != name:
        return Column(label, css, link(first), None)
    opposite = name if sort.startswith("-") else f"-{name}"
    return Column(label, css, link(opposite), "descending" if sort.startswith("-") else "ascending")


def board(
    rows: Sequence[Row],
    *,
    sort: str = DEFAULT_SORT,
    rank_sizes: Mapping[int, int] | None = None,
    extra: Sequence[str] = (),
    config_lines: Mapping[str, str] | None = None,
) -> Board:
    """Draw all rows on one scale; rows of one rank share a band where the order is by joules per correct answer.

    `rank_sizes` says how many rows of the whole task share each rank, whatever the view shows; `extra` are the
    columns of EXTRA_COLUMNS that stand beside the usual ones; `config_lines` are settings in words by key, where the
    usual ones don't tell a row from another.
    """
    scale = LogScale.over([value for row in rows for value in _drawn_values(row)])
    said = config_lines or {}
    lines = [
        replace(line, extra=_extra(line.row, extra), config=said.get(line.row["config_key"], line.config))
        for line in (_line(row, scale, rank_sizes or {}) for row in rows)
    ]
    return Board(_bands(lines) if sort == DEFAULT_SORT else [[line] for line in lines], scale)


def _line(row: Row, scale: LogScale | None, rank_sizes: Mapping[int, int]) -> Line:
    rank = shared_rank(row["rank"], rank_sizes)
    return Line(row, rank, config_line(row), _interval(row, scale), marks(row["marks"], row["run_id"]))


def _extra(row: Row, names: Sequence[str]) -> list[Extra]:
    return [Extra(EXTRA_COLUMNS[name][0], row.get(name), EXTRA_COLUMNS[name][1]) for name in names]


def shared_rank(rank: int | None, sizes: Mapping[int, int]) -> str | None:
    """A shared rank is written as the places it covers: ``2–3``."""
    if rank is None:
        return None
    last = rank + sizes.get(rank, 1) - 1
    return str(rank) if last == rank else between(str(rank), str(last))


def _bands(lines: Iterable[Line]) -> list[list[Line]]:
    """Neighbours of one rank; a row without a rank stands alone."""
    bands = groupby(lines, key=lambda line: (line.row["rank"], line.row["rank"] or id(line)))
    return [list(band) for _, band in bands]


def _pair(row: Row, low: str, high: str) -> tuple[float, float] | None:
    return None if row[low] is None or row[high] is None else (row[low], row[high])


def _drawn_values(row: Row) -> list[float | None]:
    ends = ("joules_per_correct_answer", "jpc_ci_low", "jpc_ci_high", "jpc_wide_low", "jpc_wide_high")
    return [row[end] for end in ends]


def _interval(row: Row, scale: LogScale | None) -> Interval | None:
    value = row["joules_per_correct_answer"]
    if scale is None or value is None:
        return None
    return scale.interval(value, _pair(row, "jpc_ci_low", "jpc_ci_high"), _pair(row, "jpc_wide_low", "jpc_wide_high"))


def marks(found: Iterable[Mapping[str, str]], owner: str) -> list[Mark]:
    """The marks of one run or row; `owner` keeps their popovers apart on a page."""
    return [
        Mark(mark["label"], mark["sentence"], f"hint-{mark['code']}-{owner}", KINDS.get(mark["code"], ""))
        for mark in found
    ]


def config_line(row: Row) -> str:
    """What was run on what: ``bfloat16 · transformers 4.57 · H200 · 700 W · 16 at a time``."""
    power, clock = row.get("power_limit_w"), row.get("clock_lock_mhz")
    engine = " ".join(part for part in (row["engine"], row.get("engine_version")) if part)
    parts = [
        row["quantization"],
        engine,
        row["gpu_class"],
        with_unit(f"{power:g}", "W") if power else None,
        with_unit(f"{clock:g}", "MHz") if clock else None,
        f"{row['concurrency']} at a time" if (row.get("concurrency") or 1) > 1 else None,
        f"thinking {row['thinking_mode']}" if row.get("thinking_mode") not in (None, "off", "none") else None,
    ]
    return " · ".join(str(part) for part in parts if part)
