from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.schema_registry_client import SchemaRegistryClient
from confluent_kafka.serialization import MessageField, SerializationContext

from penstock.errors import SchemaError
from penstock.schema.arrow import to_arrow
from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.port import Codec
from penstock.schema.codec.schemas import Reference
from penstock.schema.schema import Field, Schema
from penstock.schema.schema_id import header_of
from penstock.schema.types import STRING
from tests.schema.schemas_in_memory import SchemasInMemory

ORDER: dict[str, Any] = {
    "title": "Order",
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "at": {"type": "string", "format": "date-time"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "address": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "zip": {"type": ["string", "null"]}},
        },
        "price": {"type": ["number", "null"]},
    },
    "required": ["id"],
}
FULL = {
    "id": 1,
    "name": "é",
    "at": "2026-01-01T00:00:00Z",
    "tags": ["x", "y"],
    "address": {"city": "Berlin", "zip": None},
    "price": 1.5,
}


def registered(schema: Any = ORDER) -> SchemasInMemory:  # noqa: ANN401
    schemas = SchemasInMemory()
    schemas.add("orders-value", json.dumps(schema), "JSON")
    return schemas


def codec(schemas: SchemasInMemory | None = None, **options: str) -> Codec:
    wanted = Format("json_schema", subject="orders-value").with_options(**options)
    return codec_of(wanted, None, schemas or registered())


def values(*bodies: bytes | None, schema_id: int = 1) -> pa.Array:
    header = header_of(schema_id)
    return pa.array([None if body is None else header + body for body in bodies], pa.binary())


def written(found: pa.Array) -> list[Any]:
    return [json.loads(value[5:]) for value in found.to_pylist()]


def test_values_become_columns_of_the_schema() -> None:
    found = codec().decode(values(json.dumps(FULL).encode(), None, b'{"id": 2, "more": 3}'))
    assert found.failures == {}
    assert found.rows.schema == to_arrow(codec().schema)
    first, second, third = found.rows.to_pylist()
    assert first == {**FULL, "at": datetime(2026, 1, 1, tzinfo=UTC)}
    assert set(second.values()) == {None}
    assert third == {**dict.fromkeys(FULL), "id": 2}


def test_what_cannot_be_read_is_a_failure_with_its_reason() -> None:
    schemas = registered()
    schemas.add("other", '"string"')
    mixed = pa.array(
        [
            b'{"id": 1}',
            header_of(2) + b"{}",
            header_of(9) + b"{}",
            header_of(1) + b'{"id": "one"}',
            header_of(1) + b"{",
            header_of(1) + b"\xff",
            b"\0\0",
            b"",
        ],
        pa.binary(),
    )
    found = codec(schemas).decode(mixed)
    assert sorted(found.failures) == list(range(8))
    assert found.failures[0] == "it does not begin with a schema's id"
    assert found.failures[1] == "schema 2 is AVRO, not JSON"
    assert found.failures[2] == "no schema has the id 9"
    assert 'column "id"' in found.failures[3]
    assert found.rows.num_rows == 8
    assert all(column.null_count == 8 for column in found.rows.columns)


def test_values_are_judged_by_their_schema_only_where_that_is_asked() -> None:
    given = values(b'{"id": 1}', b'{"name": "a"}', b'{"id": 1, "name": 3}')
    assert codec().decode(given).failures == {}
    found = codec(validate="true").decode(given)
    assert found.failures[1] == "not valid at #: 'id' is a required property"
    assert found.failures[2] == "not valid at #/name: 3 is not of type 'string'"


def test_a_value_is_judged_by_the_schema_it_was_written_with() -> None:
    schemas = registered({**ORDER, "required": []})
    schemas.add("orders-value", json.dumps(ORDER), "JSON")
    judged = codec(schemas, validate="true")
    assert judged.decode(values(b"{}", schema_id=1)).failures == {}
    assert judged.decode(values(b"{}", schema_id=2)).failures != {}


def test_a_property_that_may_not_be_null_is_left_out() -> None:
    subject = codec(validate="true")
    rows = pa.Table.from_pylist(
        [
            {"id": 1},
            {"id": 2, "name": "b", "address": {"city": None, "zip": None}},
            {"id": 3, "tags": [], "address": {"city": "x"}},
            {"id": 4},
        ],
        schema=to_arrow(subject.schema),
    )
    assert written(subject.encode(rows)) == [
        {"id": 1, "price": None},
        {"id": 2, "name": "b", "address": {"zip": None}, "price": None},
        {"id": 3, "tags": [], "address": {"city": "x", "zip": None}, "price": None},
        {"id": 4, "price": None},
    ]


def test_rows_that_lack_something_in_many_ways_are_written_the_same() -> None:
    names = [f"c{n}" for n in range(8)]
    schema = {"properties": {name: {"type": "number"} for name in names}}
    subject = codec(registered(schema))
    rows = [{name: n / 3 for b, name in enumerate(names) if n >> b & 1} for n in range(256)]
    table = pa.Table.from_pylist(rows, schema=to_arrow(subject.schema))
    assert written(subject.encode(table)) == rows


def test_null_where_a_value_is_required_is_refused_by_row() -> None:
    rows = pa.Table.from_pylist([{"id": 1}, {"name": "a"}], schema=to_arrow(codec().schema))
    with pytest.raises(SchemaError, match='row 1, column "id" is null') as caught:
        codec().encode(rows)
    assert caught.value.code == "VALUE_ENCODE"


def test_a_row_that_is_not_valid_is_refused_where_that_is_asked() -> None:
    schema = {"properties": {"n": {"type": "integer", "maximum": 9}}}
    subject = codec(registered(schema), validate="true")
    with pytest.raises(SchemaError, match=r"row 1 is not valid .* at #/n: 10 is greater"):
        subject.encode(pa.table({"n": [1, 10]}))


def test_a_schema_that_is_written_down_needs_no_registry_and_no_ids() -> None:
    subject = codec_of(Format("json_schema", written=json.dumps(ORDER)), None)
    both = pa.array([b'{"id": 1}', header_of(7) + b'{"id": 2}'], pa.binary())
    assert subject.decode(both).rows.column("id").to_pylist() == [1, 2]
    rows = subject.decode(both).rows
    assert subject.encode(rows).to_pylist()[0] == b'{"id":1,"price":null}'


def test_a_root_that_is_no_object_is_one_column_both_ways() -> None:
    schema = {"type": "array", "items": {"type": "integer"}}
    subject = codec(registered(schema))
    given = values(b"[1, 2]", b"[3]", b'1,"x":2', b"[1}", None)
    found = subject.decode(given)
    assert found.rows.column("value").to_pylist() == [[1, 2], [3], None, None, None]
    assert sorted(found.failures) == [2, 3]
    back = subject.encode(found.rows.slice(0, 2))
    assert back.to_pylist() == [header_of(1) + b"[1,2]", header_of(1) + b"[3]"]


def test_branches_of_objects_are_columns_that_are_left_out_where_null() -> None:
    branch = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    other = {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}
    subject = codec(registered({"oneOf": [branch, other]}), validate="true")
    rows = pa.table({"a": ["x", None], "b": [None, 1]})
    assert written(subject.encode(rows)) == [{"a": "x"}, {"b": 1}]


def test_references_are_followed() -> None:
    schemas = SchemasInMemory()
    schemas.add("address", '{"properties": {"city": {"type": "string"}}}', "JSON")
    schemas.add(
        "orders-value",
        '{"properties": {"to": {"$ref": "address.json"}}}',
        "JSON",
        (Reference("address.json", "address", 1),),
    )
    subject = codec(schemas, validate="true")
    assert str(subject.schema) == "to struct<city: string>"
    found = subject.decode(values(b'{"to": {"city": "a"}}', b'{"to": {"city": 1}}', schema_id=2))
    assert found.rows.column("to").to_pylist()[0] == {"city": "a"}
    assert list(found.failures) == [1]


def test_columns_of_ones_own_are_taken_by_name() -> None:
    wanted = Schema((Field("name", STRING), Field("later", STRING)))
    subject = codec_of(Format("json_schema", subject="orders-value"), wanted, registered())
    found = subject.decode(values(b'{"id": 1, "name": "a"}'))
    assert found.rows.to_pylist() == [{"name": "a", "later": None}]


def test_a_column_that_a_closed_schema_does_not_have_is_refused() -> None:
    closed = registered({**ORDER, "additionalProperties": False})
    with pytest.raises(SchemaError, match='column "nam" is no property') as caught:
        codec_of(
            Format("json_schema", subject="orders-value"), Schema((Field("nam", STRING),)), closed
        )
    assert caught.value.hint == 'Did you mean "name"?'


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (Format("json_schema"), "FORMAT_SCHEMA"),
        (Format("json_schema", written="{").with_options(valid="true"), "FORMAT_OPTION"),
        (Format("json_schema", written="{"), "SCHEMA_TEXT"),
    ],
)
def test_a_format_that_says_too_little_or_too_much_is_refused(wanted: Format, code: str) -> None:
    with pytest.raises(SchemaError, match=code):
        codec_of(wanted, None)


def test_the_real_client_reads_what_we_write_and_we_read_what_it_writes() -> None:
    client = SchemaRegistryClient.new_client({"url": "mock://"})
    text = json.dumps(ORDER)
    context = SerializationContext("orders", MessageField.VALUE)
    theirs = JSONSerializer(text, client)(FULL, context)
    schemas = registered()
    found = codec(schemas, validate="true").decode(pa.array([theirs], pa.binary()))
    assert found.failures == {}
    assert found.rows.to_pylist() == [{**FULL, "at": datetime(2026, 1, 1, tzinfo=UTC)}]
    ours = codec(schemas).encode(found.rows).to_pylist()[0]
    read = JSONDeserializer(text, schema_registry_client=client)(ours, context)
    assert read == {**FULL, "at": "2026-01-01T00:00:00.000Z"}
