"""What the published corpus says about a class of work: its power, and what a power cap does to it."""

import re
from collections.abc import Iterable, Mapping
from math import log
from statistics import median
from typing import Any

from bench.selectors import BoardQuery, SweepQuery, board_rows, sweep_list
from scheduling.jobs import Cap

Row = Mapping[str, Any]
_SIZE = re.compile(r"(?<![0-9a-z.])(\d+(?:\.\d+)?)\s*([bm])(?![a-z])", re.IGNORECASE)
SAME_SIZE = log(1.25)
POWER_CAP, SWEEPS_AT_MOST = "power_cap", 100


def parameters_b(words: str) -> float | None:
    """Return a model's size in thousand millions of parameters, as its name or its class says it: 7b, 0.5B, 135M."""
    found = _SIZE.search(words)
    if found is None:
        return None
    return float(found[1]) * (1 if found[2].lower() == "b" else 0.001)


def class_rows(gpu_class: str | None, size_class: str | None, quant: str | None) -> list[Row]:
    """Return the published rows of a class; none where the class is not named by GPU and size."""
    size = parameters_b(size_class) if size_class else None
    if not gpu_class or size is None:
        return []
    rows = board_rows(BoardQuery(gpu_class=gpu_class, quant=quant or None))
    return [row for row in rows if _is_size(row["model"], size)]


def _is_size(model: str, size_b: float) -> bool:
    own = parameters_b(model)
    return own is not None and abs(log(own / size_b)) <= SAME_SIZE


def prior_w(rows: Iterable[Row]) -> float | None:
    """Return the mean power at stock limits of a class in W: energy per token x tokens per second."""
    watts = [w for row in rows if row["power_limit_w"] is None and (w := _watts(row)) is not None]
    return median(watts) if watts else None


def _watts(row: Row) -> float | None:
    energy_j, speed = row["joules_per_token"], row["pooled_tokens_per_second"]
    return energy_j * speed if energy_j is not None and speed is not None else None


def power_caps(gpu_class: str | None, size_class: str | None, quant: str | None) -> tuple[Cap, ...]:
    """Return what each measured power cap does to the speed and the power of a class, from its largest sweep."""
    size = parameters_b(size_class) if size_class else None
    if not gpu_class or size is None:
        return ()
    found = sweep_list(SweepQuery(kind=POWER_CAP, gpu_class=gpu_class, limit=SWEEPS_AT_MOST))
    named = [sweep for sweep in found if _is_size(sweep["model"], size) and quant in (None, "", sweep["quantization"])]
    whole = [points for sweep in named if (points := sweep["points"])[0]["is_stock"]]
    largest: list[Row] = max(whole, key=len, default=[])
    return tuple(_cap(point, largest[0]) for point in largest if not point["is_stock"])


def _cap(point: Row, stock: Row) -> Cap:
    slowdown = stock["tokens_per_second"] / point["tokens_per_second"]
    return Cap(float(point["setting"]), max(slowdown, 1.0), point["mean_w"] / stock["mean_w"])
