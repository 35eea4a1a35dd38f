"""Values that are JSON objects, one a row; or the value of a row's one column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from penstock.schema.codec.format import Format
from penstock.schema.codec.json_bare import (
    may_be_bare,
    with_objects,
    without_objects,
    wrapping,
)
from penstock.schema.codec.json_bulk import enclosed, read_bulk
from penstock.schema.codec.json_row import row_reader
from penstock.schema.codec.json_write import write_json
from penstock.schema.codec.options import check_options, flag, needed_schema
from penstock.schema.codec.port import Codec, Decoded
from penstock.schema.codec.reading import Reading
from penstock.schema.codec.schemas import Schemas
from penstock.schema.codec.times import Times, times_of
from penstock.schema.schema import Schema


def json_codec(format: Format, schema: Schema | None, _: Schemas | None) -> Codec:  # noqa: A002
    """Give the codec of JSON objects; with `lenient=true` also of what is nearly JSON."""
    check_options(format, ("lenient", "timestamp", "wrapped"))
    columns = needed_schema(format, schema)
    return JsonCodec(columns, times_of(format), flag(format, "lenient"), wrapping(format))


@dataclass(frozen=True, slots=True)
class JsonCodec:
    """Reads objects by the names of their columns; fields that are no column are passed over.

    Where there is one column, values may be bare: `wrapped` says whether they are.
    """

    schema: Schema
    times: Times
    lenient: bool
    wrapped: str = "auto"

    def decode(self, values: pa.Array) -> Decoded:
        """Read values."""
        if may_be_bare(self.wrapped, self.schema):
            name = self.schema.fields[0].name
            values = with_objects(values, name, every=self.wrapped == "false")
        reading = Reading(
            self.schema,
            bulk=partial(read_bulk, schema=self.schema, times=self.times),
            fit=enclosed,
            single=row_reader(self.schema, self.times, lenient=self.lenient).row,
            trim=lambda texts: pc.utf8_trim(texts, " \t\r\n"),
        )
        return reading.decode(values)

    def encode(self, rows: pa.Table) -> pa.Array:
        """Write rows."""
        written = write_json(rows.select(self.schema.names), self.schema, self.times)
        if self.wrapped == "false" and may_be_bare(self.wrapped, self.schema):
            return without_objects(written, self.schema.fields[0].name)
        return written
