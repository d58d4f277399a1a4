"""How bundles and long tables are kept: compressed the fast way, since ingest waits for it. Pure."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from backports import zstd
from pydantic_core import from_json, to_json

from bench.columns import Array

LEVEL = 1
_WHOLE = frozenset({"throttle_mask", "other_processes"})  # columns of whole numbers
_HEAD_SIZE = 4
_DOUBLE = 8


def pack(raw: bytes) -> bytes:
    return zstd.compress(raw, LEVEL)


def unpack(packed: bytes | memoryview) -> bytes:
    return zstd.decompress(packed)


def pack_columns(columns: Mapping[str, Any]) -> bytes:
    """A table of columns: a head as JSON, then the arrays, the first bytes of all doubles before the second ones:
    neighbours are alike then, which packs twice as fast as text."""
    arrays = {name: column for name, column in columns.items() if isinstance(column, np.ndarray)}
    sizes = {name: column.size for name, column in arrays.items()}
    head = to_json({"sizes": sizes, "plain": {name: columns[name] for name in columns.keys() - arrays.keys()}})
    body = (column.view(np.uint8).reshape(-1, _DOUBLE).T.tobytes() for column in arrays.values())
    return pack(b"".join((len(head).to_bytes(_HEAD_SIZE, "big"), head, *body)))


def unpack_columns(packed: bytes | memoryview) -> dict[str, Any]:
    """The table with lists for columns and None for what is missing."""
    raw = unpack(packed)
    start = _HEAD_SIZE + int.from_bytes(raw[:_HEAD_SIZE], "big")
    head = from_json(raw[_HEAD_SIZE:start])
    columns: dict[str, Any] = head["plain"]
    for name, size in head["sizes"].items():
        end = start + _DOUBLE * size
        columns[name] = _listed(name, np.frombuffer(raw[start:end], np.uint8).reshape(_DOUBLE, -1))
        start = end
    return columns


def _listed(name: str, shuffled: np.ndarray[Any, np.dtype[np.uint8]]) -> list[float | int | None]:
    column: Array = np.ascontiguousarray(shuffled.T).reshape(-1).view(np.float64)
    values: list[Any] = column.tolist()
    return [None if value != value else int(value) if name in _WHOLE else value for value in values]
