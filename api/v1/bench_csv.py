"""Tables for spreadsheets, in which no cell can start a formula and no name is a stranger's free text."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

from rest_framework.renderers import BaseRenderer

from bench.selectors.names import listed_names, names_listed

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
LEFT_OUT = frozenset({"marks"})
Row = Mapping[str, Any]


def csv_cell(value: Any) -> Any:
    """A cell that a spreadsheet reads as what it is. Numbers keep their sign; text that could run is quoted."""
    if isinstance(value, list | tuple):
        value = " ".join(map(str, value))
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return "" if value is None else value


def csv_table(rows: Sequence[Row], columns: Iterable[str]) -> bytes:
    """The rows with these columns; nested ones are spread as ``outer.inner``."""
    listed, header = names_listed(), list(columns)
    out = StringIO()
    writer = csv.DictWriter(out, fieldnames=header, lineterminator="\r\n", extrasaction="ignore", restval="")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: csv_cell(value) for name, value in spread({**row, **listed_names(row, listed)}).items()})
    return out.getvalue().encode()


def spread(row: Row) -> dict[str, Any]:
    """A row without nested values."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            flat |= {f"{name}.{inner}": one for inner, one in value.items()}
        elif name not in LEFT_OUT:
            flat[name] = value
    return flat


class CsvRenderer(BaseRenderer):
    """Lets a reader ask for CSV. The views write the table themselves; here come only refusals, and they are JSON."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        (renderer_context or {})["response"]["Content-Type"] = "application/json"
        return json.dumps(data).encode()
