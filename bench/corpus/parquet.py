"""The same download as columns, for whoever computes with all of it. Needs pyarrow, which only the worker loads."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, get_args, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq
from asyncenergy_controller.metrics import RunFigures
from asyncenergy_controller.wire import ItemColumns, TraceColumns

ROWS_AT_ONCE = 50_000
_PLAIN = {float: pa.float64(), int: pa.int64(), str: pa.string(), bool: pa.bool_()}
_RUN_WORDS = ("id", "node", "machine", "date", "suite", "task", "model", "config_key", "methodology_version", "tier")
_SETUP = ("engine", "engine_version", "quantization", "gpu_class", "energy_boundary", "source_family")
_LIMITS = ("power_limit_w", "clock_lock_mhz", "concurrency")
_ITEM_TYPES = {"answer": pa.string(), "finish_reason": pa.string()}


class Table:
    """One Parquet file, written in batches so that memory stays bounded."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._writer, self._schema = pq.ParquetWriter(path, schema, compression="zstd"), schema
        self._columns: dict[str, list[Any]] = {name: [] for name in schema.names}

    def add(self, columns: Mapping[str, Sequence[Any]], n: int) -> None:
        """Add `n` rows; a column that is missing is null in all of them."""
        for name, held in self._columns.items():
            held.extend(columns.get(name) or [None] * n)
        if len(next(iter(self._columns.values()))) >= ROWS_AT_ONCE:
            self._flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        self._writer.write_table(pa.table(self._columns, schema=self._schema))
        self._columns = {name: [] for name in self._schema.names}


def tables(folder: Path) -> dict[str, Table]:
    """Runs, their items and their samples, each in a file of its own."""
    schemas = {"runs": _run_schema(), "items": _item_schema(), "trace": _trace_schema()}
    return {name: Table(folder / f"{name}.parquet", schema) for name, schema in schemas.items()}


def add(to: Mapping[str, Table], line: Mapping[str, Any]) -> None:
    """Add one line of the download to all tables."""
    to["runs"].add(_run_row(line), 1)
    for table in ("items", "trace"):
        to[table].add(*_table_columns(line, table))


def _run_schema() -> pa.Schema:
    figures = [(name, kind) for name, hint in get_type_hints(RunFigures).items() if (kind := _plain(hint))]
    words = [(name, pa.string()) for name in (*_RUN_WORDS, *_SETUP)]
    limits = [(name, pa.float64()) for name in _LIMITS]
    return pa.schema(dict([*words, *limits, *figures]))


def _item_schema() -> pa.Schema:
    numbers = [(name, _ITEM_TYPES.get(name, pa.float64())) for name in ItemColumns.model_fields]
    return pa.schema([("run_id", pa.string()), *numbers, ("energy_j", pa.float64())])


def _trace_schema() -> pa.Schema:
    columns = [name for name in TraceColumns.model_fields if name != "power_field"]
    return pa.schema([("run_id", pa.string()), *((name, pa.float64()) for name in columns)])


def _run_row(line: Mapping[str, Any]) -> dict[str, list[Any]]:
    words = {name: [line[name]] for name in _RUN_WORDS}
    config = {name: [line["config"].get(name)] for name in (*_SETUP, *_LIMITS)}
    figures = {name: [value] for name, value in line["figures"].items()}
    return {**figures, **words, **config}


def _table_columns(line: Mapping[str, Any], table: str) -> tuple[dict[str, list[Any]], int]:
    """The items or the trace of a run, each row with the run's id."""
    columns = {name: column for name, column in line[table].items() if isinstance(column, list)}
    n = len(next(iter(columns.values()), []))
    return {"run_id": [line["id"]] * n, **columns}, n


def _plain(hint: Any) -> pa.DataType | None:
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not type(None)]
    return _PLAIN.get(kinds[0]) if len(kinds) == 1 and isinstance(kinds[0], type) else None
