"""What the published corpus says about a class of work: its power, and what a power cap does to it."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import log
from statistics import median
from typing import Any

from bench.selectors import BoardQuery, board_rows
from scheduling.jobs import Cap

Row = Mapping[str, Any]
_SIZE = re.compile(r"(?<![0-9a-z.])(\d+(?:\.\d+)?)\s*([bm])(?![a-z])", re.IGNORECASE)
SAME_SIZE = log(1.25)
# rows that differ in nothing but the power limit
_CONFIGURATION = ("model", "quantization", "engine", "engine_version", "thinking_mode", "task", "concurrency")


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


def power_caps(rows: Iterable[Row]) -> tuple[Cap, ...]:
    """Return what each measured power cap does to the speed and the power of a class, from its largest sweep."""
    sweeps: dict[tuple[Any, ...], dict[float | None, Row]] = defaultdict(dict)
    for row in rows:
        if _watts(row) is not None:
            sweeps[tuple(row[name] for name in _CONFIGURATION)][row["power_limit_w"]] = row
    whole = [sweep for sweep in sweeps.values() if None in sweep and len(sweep) > 1]
    if not whole:
        return ()
    sweep = max(whole, key=lambda one: (len(one), sorted(str(cap) for cap in one)))
    stock = sweep.pop(None)
    return tuple(_cap(cap_w, row, stock) for cap_w, row in sorted(sweep.items(), key=lambda item: -(item[0] or 0.0)))


def _cap(cap_w: float | None, row: Row, stock: Row) -> Cap:
    slowdown = stock["pooled_tokens_per_second"] / row["pooled_tokens_per_second"]
    return Cap(float(cap_w or 0.0), max(slowdown, 1.0), (_watts(row) or 0.0) / (_watts(stock) or 1.0))
