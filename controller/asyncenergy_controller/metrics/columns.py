"""Columns of samples as float arrays: a missing sample is NaN inside, None outside."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.floating]
Numbers = Sequence[float | None] | npt.NDArray[np.generic]


def to_array(values: Numbers, name: str) -> Array:
    """One column as floats. None, NaN and infinities are no measurements and become NaN."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one column, got {array.ndim} dimensions")
    finite = np.isfinite(array)
    return array if finite.all() else np.where(finite, array, np.nan)


def to_times(values: Numbers, name: str = "t_s") -> Array:
    """A time axis in seconds: nothing missing, strictly rising."""
    times = to_array(values, name)
    if np.isnan(times).any():
        raise ValueError(f"{name}[{int(np.isnan(times).argmax())}] is missing: every sample needs a time")
    falls = np.diff(times) <= 0
    if falls.any():
        at = int(falls.argmax())
        raise ValueError(f"{name} must rise strictly, got {times[at]} then {times[at + 1]} at index {at + 1}")
    return times


def require_same_length(**columns: Array) -> None:
    """Raise ValueError naming the lengths when columns of one table differ in length."""
    lengths = {name: column.size for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns must have one length, got {lengths}")


def to_list(array: Array) -> list[float | None]:
    """Back to plain numbers, NaN as None."""
    return [None if value != value else value for value in array.tolist()]


def number(value: float | np.floating) -> float | None:
    """One plain number, NaN as None."""
    return None if np.isnan(value) else float(value)
