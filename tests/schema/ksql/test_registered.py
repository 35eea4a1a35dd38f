from __future__ import annotations

import json
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from penstock.errors import SchemaError
from penstock.schema.arrow import to_arrow
from penstock.schema.codec.schemas import SchemaType
from penstock.schema.ksql.codecs import Serialized, ksql_codec
from penstock.schema.ksql.proto_text import proto_of
from penstock.schema.ksql.schema_text import schema_of
from penstock.schema.ksql.subject import Subject
from penstock.schema.ksql.told_columns import told_columns
from penstock.schema.schema import Field, Schema
from penstock.schema.types import (
    BYTES,
    DATE,
    FLOAT64,
    INT32,
    INT64,
    STRING,
    TIMESTAMP,
    array_of,
    decimal_of,
    map_of,
    struct_of,
)
from tests.schema.schemas_in_memory import SchemasInMemory

MOMENT = datetime(2020, 1, 1, tzinfo=UTC)
COLUMNS = Schema(
    (
        Field("N", INT64),
        Field("S", STRING),
        Field("AT", TIMESTAMP),
        Field("A", array_of(INT32)),
        Field("P", map_of(FLOAT64)),
        Field("Q", struct_of(F=STRING, G=INT64)),
    )
)
ROW = {"N": 1, "S": "x", "AT": MOMENT, "A": [1, 2], "P": {"a": 1.5}, "Q": {"F": "f", "G": 2}}


def _codec(name: str, schema: Schema, schemas: SchemasInMemory, **how: Any) -> Any:  # noqa: ANN401
    subject = Subject("t-value", schemas, how.pop("schema_id", None))
    return ksql_codec(Serialized(name, subject=subject, **how), schema)


def _rows(codec: Any, *values: bytes | None) -> list[dict[str, Any]]:  # noqa: ANN401
    found = codec.decode(pa.array(values, pa.binary()))
    assert not found.failures
    rows: list[dict[str, Any]] = found.rows.to_pylist(maps_as_pydicts="strict")
    return rows


def _avro_value(schema_id: int, text: str, value: Any) -> bytes:  # noqa: ANN401
    body = BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(json.loads(text)), value)
    return b"\0" + schema_id.to_bytes(4, "big") + body.getvalue()


@pytest.mark.parametrize("name", ["AVRO", "JSON_SR", "PROTOBUF"])
def test_a_value_begins_with_the_id_of_its_schema_and_is_read_by_it(name: str) -> None:
    schemas = SchemasInMemory()
    codec = _codec(name, COLUMNS, schemas)
    values = codec.encode(pa.Table.from_pylist([ROW], to_arrow(COLUMNS))).to_pylist()
    assert values[0][:5] == b"\0\0\0\0\1"
    assert _rows(codec, *values, None) == [ROW, dict.fromkeys(ROW)]
    told = told_columns(name, Subject("t-value", schemas))
    assert told is not None
    assert [(it.name, it.type) for it in told.columns.fields] == [
        (it.name, it.type) for it in COLUMNS.fields
    ]


def test_other_clients_read_what_is_written() -> None:
    schemas = SchemasInMemory()
    made = _codec("AVRO", COLUMNS, schemas).encode(pa.Table.from_pylist([ROW], to_arrow(COLUMNS)))
    reader = fastavro.parse_schema(json.loads(schemas.by_id(1).text))
    assert fastavro.schemaless_reader(BytesIO(made[0].as_py()[5:]), reader, None) == ROW


def test_names_in_another_case_and_narrower_numbers_are_read() -> None:
    schemas = SchemasInMemory()
    text = json.dumps(
        {
            "type": "record",
            "name": "r",
            "fields": [
                {"name": "n", "type": "int"},
                {"name": "q", "type": {"type": "record", "name": "i", "fields": [
                    {"name": "g", "type": "int"}]}},
            ],
        }
    )  # fmt: skip
    first = schemas.add("t-value", text)
    codec = _codec("AVRO", COLUMNS, schemas)
    (row,) = _rows(codec, _avro_value(first.id, text, {"n": 4, "q": {"g": 5}}))
    assert (row["N"], row["Q"], row["S"]) == (4, {"F": None, "G": 5}, None)


@pytest.mark.parametrize(("name", "text"), [("AVRO", '"int"'), ("JSON_SR", '{"type":"integer"}')])
def test_a_value_alone_is_the_whole_schema(name: str, text: str) -> None:
    schemas = SchemasInMemory()
    alone = Schema((Field("V", INT32),))
    codec = _codec(name, alone, schemas, wrapped=False)
    made = codec.encode(pa.table({"V": pa.array([7, None], pa.int32())})).to_pylist()
    assert made[1] is None
    assert _rows(codec, made[0]) == [{"V": 7}]
    assert schemas.by_id(1).text.replace(', "connect.type": "int32"', "").replace(" ", "") == text
    told = told_columns(name, Subject("t-value", schemas))
    assert told is not None
    assert not told.wrapped


def test_a_struct_alone_is_a_record() -> None:
    schemas = SchemasInMemory()
    alone = Schema((Field("Q", struct_of(F=STRING, G=INT64)),))
    codec = _codec("AVRO", alone, schemas, wrapped=False)
    made = codec.encode(pa.Table.from_pylist([{"Q": ROW["Q"]}], to_arrow(alone)))
    assert _rows(codec, made[0].as_py()) == [{"Q": ROW["Q"]}]


def test_values_of_no_known_schema_are_failures() -> None:
    schemas = SchemasInMemory()
    text = schema_of("AVRO", COLUMNS, wrapped=True).text
    schemas.add("t-value", text)
    schemas.add("other", '{"type":"object"}', "JSON")
    values = [b"{}", b"\0\0\0\0\x09x", b"\0\0\0\0\2{}", b"\0\0\0\0\1"]
    found = _codec("AVRO", COLUMNS, schemas).decode(pa.array(values, pa.binary()))
    assert list(found.failures) == [0, 1, 2, 3]
    assert found.failures[1] == "no schema has the id 9"
    assert "not AVRO" in found.failures[2]


def test_a_number_too_large_is_a_failure_of_its_own() -> None:
    schemas = SchemasInMemory()
    text = '{"type":"record","name":"r","fields":[{"name":"N","type":"long"}]}'
    first = schemas.add("t-value", text)
    values = [_avro_value(first.id, text, {"N": number}) for number in (1, 2**40, 3)]
    narrow = _codec("AVRO", Schema((Field("N", INT32),)), schemas)
    found = narrow.decode(pa.array(values, pa.binary()))
    assert list(found.failures) == [1]
    assert found.rows["N"].to_pylist() == [1, None, 3]


def test_a_schema_that_is_named_by_its_id_is_written_with() -> None:
    schemas = SchemasInMemory()
    text = '{"type":"record","name":"r","fields":[{"name":"n","type":"long"}]}'
    named = schemas.add("other", text)
    codec = _codec("AVRO", Schema((Field("N", INT64),)), schemas, schema_id=named.id)
    (made,) = codec.encode(pa.table({"N": [5]})).to_pylist()
    assert made == _avro_value(named.id, text, {"n": 5})
    told = told_columns("AVRO", Subject("t-value", schemas, named.id))
    assert told is not None
    assert told.columns.names == ("n",)


def test_what_json_does_not_have_is_noted_as_kafka_connect_does() -> None:
    schemas = SchemasInMemory()
    columns = Schema((Field("M", decimal_of(5, 2)), Field("D", DATE), Field("Y", BYTES)))
    text = schema_of("JSON_SR", columns, wrapped=True)
    schemas.add("t-value", text.text, "JSON")
    told = told_columns("JSON_SR", Subject("t-value", schemas))
    assert told is not None
    assert told.columns == columns


@pytest.mark.parametrize(("nulls", "read"), [("", 0), ("OPTIONAL", None), ("WRAPPER", None)])
def test_messages_show_nulls_as_they_are_told_to(nulls: str, read: int | None) -> None:
    columns = Schema((Field("N", INT64), Field("S", STRING)))
    codec = ksql_codec(Serialized("PROTOBUF_NOSR", nulls=nulls), columns)
    rows = pa.Table.from_pylist([{"N": None, "S": "x"}], to_arrow(columns))
    assert _rows(codec, codec.encode(rows)[0].as_py()) == [{"N": read, "S": "x"}]


def test_a_record_or_a_message_has_the_name_that_is_asked_for() -> None:
    record = schema_of("AVRO", COLUMNS, wrapped=True, full_name="shop.Order").text
    assert json.loads(record)["name"] == "shop.Order"
    text = proto_of(Schema((Field("N", INT64),)), "shop.Order")
    assert "package shop;" in text
    assert "message Order {" in text


@pytest.mark.parametrize("type_", ["JSON", "PROTOBUF"])
def test_a_schema_of_another_language_tells_no_columns(type_: SchemaType) -> None:
    schemas = SchemasInMemory()
    schemas.add("t-value", "{}", type_)
    with pytest.raises(SchemaError, match="FORMAT_SCHEMA"):
        told_columns("AVRO", Subject("t-value", schemas))
    assert told_columns("AVRO", Subject("nothing", schemas)) is None
