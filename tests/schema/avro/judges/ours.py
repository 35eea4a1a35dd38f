"""Our codec as the tests ask it: values in bytes, rows as dictionaries."""

from __future__ import annotations

import json

import pyarrow as pa

from penstock.schema.avro.codec_rows import values_of
from penstock.schema.avro.datum_write import DatumWriter
from penstock.schema.avro.decode import Decoder
from penstock.schema.avro.encode import Encoder
from penstock.schema.avro.nodes import AvroSchema
from penstock.schema.avro.parse import parse_avro
from penstock.schema.avro.resolution import resolve
from tests.schema.avro.judges.cases import Json


def parsed(schema: Json) -> AvroSchema:
    """Read a schema from what JSON says."""
    return parse_avro(json.dumps(schema))


def record(**fields: Json) -> Json:
    """Give a record R with these fields."""
    return {
        "type": "record",
        "name": "R",
        "fields": [{"name": name, "type": kind} for name, kind in fields.items()],
    }


def written(schema: Json, *values: Json) -> list[bytes]:
    """Write values one by one, which is another way than the columns take."""
    writer = DatumWriter(parsed(schema))
    return [writer.encode(value) for value in values]


def table_of(
    writer: Json, data: list[bytes], reader: Json = None
) -> tuple[pa.Table, dict[int, str]]:
    """Read values as columns."""
    wrote = parsed(writer)
    decoder = Decoder(resolve(wrote, wrote if reader is None else parsed(reader)))
    values = values_of(pa.array(data, pa.binary()))
    table, failures = decoder.decode(values.data, values.at, values.end)
    table.validate(full=True)
    return table, dict(failures)


def rows_of(writer: Json, data: list[bytes], reader: Json = None) -> list[dict[str, Json]]:
    """Read values as rows; none may fail."""
    table, failures = table_of(writer, data, reader)
    assert failures == {}
    return list(table.to_pylist())


def encoded(schema: Json, table: pa.Table) -> list[bytes]:
    """Write columns."""
    return list(Encoder(parsed(schema)).encode(table).to_pylist())
