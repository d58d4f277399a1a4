"""The board as a table for spreadsheets, in which no cell can start a formula."""

import csv
import json
from collections.abc import Mapping
from io import StringIO
from typing import Any

from rest_framework.renderers import BaseRenderer

from bench.selectors import names_listed

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
UNLISTED = "unlisted"
NAMED = {"model": "model", "engine": "engine", "gpu_class": "gpu"}
LEFT_OUT = frozenset({"marks", "grades"})


def csv_cell(value: Any) -> Any:
    """A cell that a spreadsheet reads as what it is. Numbers keep their sign; text that could run is quoted."""
    if isinstance(value, list):
        value = " ".join(map(str, value))
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return "" if value is None else value


def csv_row(row: Mapping[str, Any], listed: Mapping[str, frozenset[str]]) -> dict[str, Any]:
    """A row without nested values; names that no maintainer knows are free text and stay out."""
    named = {
        column: row[column] if row[column] is None or row[column] in listed[kind] else UNLISTED
        for column, kind in NAMED.items()
    }
    return {name: csv_cell(value) for name, value in {**row, **named}.items() if name not in LEFT_OUT}


class BoardCsvRenderer(BaseRenderer):
    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        response = (renderer_context or {})["response"]
        if response.exception:
            response["Content-Type"] = "application/json"
            return json.dumps(data).encode()
        listed = names_listed()
        rows = [csv_row(row, listed) for row in data["results"]]
        out = StringIO()
        writer = csv.DictWriter(out, fieldnames=list(rows[0]) if rows else ["config_key"], lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue().encode()
