"""Rows of a program as one value: an Arrow stream in bytes, whatever they came as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import SchemaError
from penstock.schema.arrow import from_arrow, to_arrow
from penstock.schema.schema import Schema


def arrow_stream(rows: object, schema: Schema | None = None) -> tuple[Schema, bytes]:
    """Give the columns and the bytes of rows: dictionaries, or anything that gives Arrow tables.

    Without a schema the rows say their columns. A column of the schema that they do not have is
    null, and one that it has not is left out.
    """
    try:
        table = _table(rows, schema)
        columns = from_arrow(table.schema) if schema is None else schema
        return columns, stream_bytes(fitted(table, columns))
    except (pa.ArrowException, OverflowError) as error:
        raise SchemaError(
            "STATIC_ROWS",
            f"the rows of a static table do not fit its columns: {error}",
            hint="Give each column values of one type, or a schema that they fit.",
        ) from error


def stream_bytes(table: pa.Table) -> bytes:
    """Give an Arrow table as bytes; equal tables of flat columns give equal bytes."""
    # What is taken lies in memory in one way, whoever made the table.
    table = table.take(pa.arange(0, table.num_rows))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return bytes(sink.getvalue().to_pybytes())


def fitted(table: pa.Table, columns: Schema) -> pa.Table:
    """Give these columns of a table, with their types; one that is not there is null."""
    wanted = to_arrow(columns)
    return pa.table([_column(table, field) for field in wanted], schema=wanted)


def _table(rows: object, schema: Schema | None) -> pa.Table:
    if hasattr(rows, "__arrow_c_stream__"):
        return pa.table(rows)
    if isinstance(rows, Sequence) and all(isinstance(row, Mapping) for row in rows):
        return pa.Table.from_pylist(list(rows), None if schema is None else to_arrow(schema))
    raise SchemaError(
        "STATIC_ROWS",
        f"the rows of a static table are given as {type(rows).__name__}",
        hint="Give a list of dictionaries, a polars or Arrow table, or the path of a file.",
    )


def _column(table: pa.Table, field: Any) -> Any:  # noqa: ANN401  # Arrow has no types
    if field.name not in table.column_names:
        return pa.nulls(table.num_rows, field.type)
    options = pc.CastOptions(field.type, allow_time_truncate=True)
    return table.column(field.name).cast(options=options)
