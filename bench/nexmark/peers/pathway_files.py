"""The events as CSV: what the free version of Pathway reads fastest."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

_IDS = {"person": "person_id", "auction": "auction_id"}


def csv_of(events: Path, kind: str) -> Path:
    """Give the folder with one kind of events as CSV; it is made on its first use."""
    folder = events.parent / "pathway" / events.name / kind
    if not folder.exists():
        made = folder.with_name(f".{kind}-{os.getpid()}")
        made.mkdir(parents=True)
        try:
            for path in sorted((events / kind).glob("*.parquet")):
                pa_csv.write_csv(_plain(pq.read_table(path), kind), made / f"{path.stem}.csv")
            made.rename(folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return folder


def _plain(rows: pa.Table, kind: str) -> pa.Table:
    """Give times as milliseconds, and ids a name that Pathway does not keep for itself."""
    for place, column in enumerate(rows.schema):
        if pa.types.is_timestamp(column.type):
            rows = rows.set_column(place, column.name, rows[column.name].cast(pa.int64()))
    return rows.rename_columns([_IDS.get(kind, n) if n == "id" else n for n in rows.column_names])
