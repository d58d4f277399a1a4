"""Reads of a run's samples."""

from datetime import UTC, datetime, timedelta
from typing import Any

from scheduling.models import RunRecord, SampleBatch
from scheduling.packing import unpacked
from scheduling.records import SAMPLE


def batch_times(batch: SampleBatch) -> list[datetime]:
    offsets = unpacked(batch.columns_zlib)["offset_us"]
    return [batch.first_ts + timedelta(microseconds=offset) for offset in offsets]


def columns_of(run: RunRecord) -> dict[str, list[Any]]:
    """Return all samples of a run in order of time, in columns; `t_s` is Unix time."""
    rows: list[tuple[datetime, dict[str, Any], int]] = []
    for batch in SampleBatch.objects.filter(run=run):
        columns = unpacked(batch.columns_zlib)
        rows += [(at, columns, i) for i, at in enumerate(batch_times(batch))]
    rows.sort(key=lambda row: row[0])
    names = {name: [columns[name][i] for _, columns, i in rows] for name in SAMPLE}
    return {"t_s": [at.astimezone(UTC).timestamp() for at, _, _ in rows], **names}
