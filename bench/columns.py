"""The tables of a run as arrays, converted once for all that calculates with them. Pure: no Django, no I/O."""

from array import array
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from asyncenergy_controller.wire import TABLES, WORD_COLUMNS

Array = npt.NDArray[np.float64]


def as_arrays(run: Mapping[str, Any]) -> Mapping[str, Any]:
    """The run with its columns of numbers as arrays, NaN for null; a run of totals as it is."""
    return {**run, **{table: _arrays(run[table]) for table in TABLES}} if "items" in run else run


def present(column: Array) -> Array:
    """What of a column was recorded."""
    return column[~np.isnan(column)]


def _arrays(table: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _array(column) if isinstance(column, list) and name not in WORD_COLUMNS else column
        for name, column in table.items()
    }


def _array(column: list[float | None]) -> Array:
    try:
        return np.frombuffer(array("d", cast(list[float], column)))  # the fast way, where nothing is missing
    except TypeError:
        return np.asarray(column, dtype=np.float64)
