"""Values that are Arrow streams of one row each."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from penstock.errors import SchemaError
from penstock.schema.arrow import to_arrow, type_of
from penstock.schema.arrow_stream import fitted
from penstock.schema.codec.binary import one_array
from penstock.schema.codec.format import Format
from penstock.schema.codec.options import check_options, needed_schema
from penstock.schema.codec.port import Codec, Decoded
from penstock.schema.codec.schemas import Schemas
from penstock.schema.schema import Field, Schema
from penstock.schema.types import Kind


def arrow_codec(format: Format, schema: Schema | None, _: Schemas | None) -> Codec:  # noqa: A002
    """Give the codec of Arrow streams."""
    check_options(format, ())
    return ArrowCodec(needed_schema(format, schema))


@dataclass(frozen=True, slots=True)
class ArrowCodec:
    """Reads streams of one row; one of several rows is a failure, since a value is a row.

    Columns are found by name, and a missing one is null; their types are those of the schema, or
    smaller numbers.
    """

    schema: Schema

    def decode(self, values: pa.Array) -> Decoded:
        """Read values."""
        empty = to_arrow(self.schema).empty_table()
        nothing = pa.table([pa.nulls(1, field.type) for field in empty.schema], schema=empty.schema)
        rows, failures = [empty], {}
        for place, value in enumerate(one_array(values)):
            row = nothing
            if value.is_valid:
                try:
                    row = self._row(value.as_buffer())
                except (pa.ArrowException, ValueError, OSError, OverflowError) as error:
                    failures[place] = f"no Arrow stream of one row: {_first_line(error)}"
            rows.append(row)
        return Decoded(pa.concat_tables(rows).combine_chunks(), failures)

    def encode(self, rows: pa.Table) -> pa.Array:
        """Write rows."""
        table = rows.select(self.schema.names).cast(to_arrow(self.schema))
        return pa.array([_stream(table.slice(at, 1)) for at in range(len(table))], pa.binary())

    def _row(self, value: pa.Buffer) -> pa.Table:
        with pa.ipc.open_stream(value) as reader:
            found = reader.read_all()
        # Bytes that were damaged on their way may still have the form of a stream.
        found.validate(full=True)
        if found.num_rows != 1:
            raise ValueError(f"it holds {found.num_rows} rows")
        for field in self.schema.fields:
            _check_type(found, field)
        return fitted(found, self.schema)


def _check_type(found: pa.Table, field: Field) -> None:
    """Refuse a column of another type, which Arrow would try to cast, and crash on some."""
    times = found.column_names.count(field.name)
    if times == 0:
        return
    if times > 1:
        raise ValueError(f'column "{field.name}" is there {times} times')
    try:
        type_ = type_of(field.name, found.schema.field(field.name).type)
    except SchemaError as error:
        raise ValueError(error.fact) from error
    wider = type_.integral and field.type.kind in (Kind.INT64, Kind.FLOAT64)
    if type_ != field.type and not wider:
        raise ValueError(f'column "{field.name}" is of type {type_}, not {field.type}')


def _stream(row: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, row.schema) as writer:
        writer.write_table(row)
    return bytes(sink.getvalue().to_pybytes())


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0]
