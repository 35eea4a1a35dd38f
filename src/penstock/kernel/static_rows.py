"""The rows of a table that does not change, read once in each process."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import polars as pl
import pyarrow as pa

from penstock.errors import RunError
from penstock.kernel.columns import frame_schema
from penstock.kernel.port import Frame
from penstock.log.file_topics import FileTopic
from penstock.model.static_table import StaticTable
from penstock.schema.arrow import to_arrow

ARROW = ".arrow"
"""How the name of a file ends that holds a table which was fetched for a program."""


@lru_cache(maxsize=32)
def static_rows(table: StaticTable) -> Frame:
    """Give the rows of a table; a file that has others than it should is refused by name."""
    found = pl.from_arrow(static_arrow(table))
    assert isinstance(found, pl.DataFrame)
    return found.cast(pl.Schema(frame_schema(table.columns)))


def static_arrow(table: StaticTable) -> pa.Table:
    """Give the rows of a table as Arrow holds them."""
    if table.place == "spark":
        raise RunError(
            "STATIC_SPARK",
            f'table "{table.name}" is one of Spark\'s, and there is no Spark here',
            hint="Run the program on Spark, or give the rows themselves in a test.",
        )
    if table.place == "held":
        return pa.ipc.open_stream(table.rows).read_all()
    if table.name.endswith(ARROW):
        return pa.ipc.open_stream(Path(table.name).read_bytes()).read_all()
    files = FileTopic(table.name, table.name, to_arrow(table.columns))
    return pa.concat_tables(files.table(number) for number in range(len(files.files)))
