from __future__ import annotations

import json

import pyarrow as pa
import pytest
from typing_extensions import override

from penstock.errors import RegistryError, SchemaError
from penstock.schema.avro.codec import avro_codec
from penstock.schema.avro.container import container_bytes
from penstock.schema.avro.embedded import embed, embedded_values
from penstock.schema.avro.single_object import read_single_object
from penstock.schema.avro.text import fingerprint
from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.port import Codec
from penstock.schema.codec.schemas import Reference, SchemaText
from penstock.schema.schema import Field, Schema
from penstock.schema.types import (
    BYTES,
    DATE,
    FLOAT64,
    INT32,
    INT64,
    STRING,
    TIME,
    TIMESTAMP,
    Type,
    array_of,
    decimal_of,
    map_of,
    struct_of,
)
from tests.schema.avro.judges.cases import Json
from tests.schema.avro.judges.ours import parsed, record, written
from tests.schema.schemas_in_memory import SchemasInMemory

PERSON = record(name="string", age=["null", "int"])
LATER = {
    "type": "record",
    "name": "R",
    "fields": [
        {"name": "age", "type": ["null", "long"], "default": None},
        {"name": "name", "type": "string"},
        {"name": "town", "type": "string", "default": "here"},
    ],
}


def columns(**types: Type) -> Schema:
    return Schema(tuple(Field(name, kind) for name, kind in types.items()))


def plain(schema: Json, asked: Schema | None = None, **options: str) -> Codec:
    written_with = Format("avro", written=json.dumps(schema)).with_options(**options)
    return avro_codec(written_with, asked, None)


def headed(schema_id: int, *values: bytes) -> list[bytes]:
    return [b"\0" + schema_id.to_bytes(4, "big") + value for value in values]


def rows(codec: Codec, data: list[bytes | None]) -> list[dict[str, Json]]:
    decoded = codec.decode(pa.array(data, pa.binary()))
    assert decoded.failures == {}
    return list(decoded.rows.to_pylist())


def read_as(schema: Json, value: Json, **types: Type) -> dict[str, Json]:
    data: list[bytes | None] = [*written(schema, value)]
    return rows(plain(schema, columns(**types)), data)[0]


def test_plain_values_are_read_and_written_with_their_schema() -> None:
    codec = codec_of(Format("avro", written=json.dumps(PERSON)), None)
    data = written(PERSON, {"name": "Ann", "age": 3}, {"name": "Bo", "age": None})
    assert codec.schema == columns(name=STRING, age=INT32)
    decoded = codec.decode(pa.array(data))
    assert decoded.rows.to_pylist() == [{"name": "Ann", "age": 3}, {"name": "Bo", "age": None}]
    assert codec.encode(decoded.rows).to_pylist() == data


def test_a_null_is_a_row_of_nulls_and_no_failure() -> None:
    data: list[bytes | None] = [None, *written(PERSON, {"name": "Ann", "age": 3}), None, b"\xff"]
    decoded = plain(PERSON).decode(pa.array(data))
    nobody = {"name": None, "age": None}
    assert decoded.rows.to_pylist() == [nobody, {"name": "Ann", "age": 3}, nobody, nobody]
    assert list(decoded.failures) == [3]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()])
def test_values_may_come_in_any_form_of_bytes(kind: pa.DataType) -> None:
    data = written(PERSON, {"name": "Ann", "age": 3}, {"name": "Bo", "age": None})
    whole = pa.array([b"", *data], kind)
    assert plain(PERSON).decode(whole.slice(1)).rows.num_rows == 2
    chunks = pa.chunked_array([whole.slice(1, 1), whole.slice(2)])
    assert plain(PERSON).decode(chunks).failures == {}
    assert plain(PERSON).decode(pa.chunked_array([], kind)).rows.num_rows == 0


def test_columns_are_found_by_name_and_missing_ones_are_null() -> None:
    asked = columns(age=INT64, height=FLOAT64, name=STRING)
    codec = plain(PERSON, asked)
    assert codec.schema == asked
    assert rows(codec, [*written(PERSON, {"name": "Ann", "age": 3})]) == [
        {"age": 3, "height": None, "name": "Ann"}
    ]


def test_a_column_that_the_writer_has_with_another_type_fails_its_rows() -> None:
    decoded = plain(PERSON, columns(name=INT32)).decode(
        pa.array(written(PERSON, {"name": "Ann", "age": 3}))
    )
    assert decoded.failures == {0: 'found string where the reader has int, in "name"'}


def test_columns_inside_of_columns_are_found_by_name_too() -> None:
    inner = {
        "type": "record",
        "name": "I",
        "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": "string"}],
    }
    schema = record(a=inner, b=["null", "I"], c={"type": "array", "items": "I"})
    value = {"a": {"x": 1, "y": "p"}, "b": {"x": 2, "y": "q"}, "c": [{"x": 3, "y": "r"}]}
    found = read_as(
        schema,
        value,
        b=struct_of(y=STRING),
        c=array_of(struct_of(z=INT32, x=INT64)),
        a=struct_of(x=FLOAT64),
    )
    assert found == {"b": {"y": "q"}, "c": [{"z": None, "x": 3}], "a": {"x": 1.0}}


def test_columns_read_what_has_a_meaning_with_it_or_without() -> None:
    def means(kind: str, name: str, **more: int) -> Json:
        return {"type": kind, "logicalType": name, **more}

    schema = record(
        micros=means("long", "timestamp-micros"),
        count="long",
        day="int",
        at=means("long", "time-micros"),
        price=means("bytes", "decimal", precision=5, scale=2),
        raw={"type": "fixed", "name": "F", "size": 1, **means("fixed", "decimal", precision=2)}
        | {"type": "fixed"},
        id={"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"},
        kind={"type": "enum", "name": "E", "symbols": ["A"]},
    )
    value = {"micros": 5_000_000, "count": 5_000, "day": 0, "at": 1_000, "price": b"\x64"}
    value |= {"raw": b"\x07", "id": b"\0" * 16, "kind": "A"}
    found = read_as(
        schema,
        value,
        micros=TIMESTAMP,
        count=TIMESTAMP,
        day=DATE,
        at=TIME,
        price=decimal_of(7, 2),
        raw=BYTES,
        id=STRING,
        kind=STRING,
    )
    assert found["micros"] == found["count"]
    assert str(found["price"]) == "1.00"
    assert found["raw"] == b"\x07"
    assert found["kind"] == "A"
    again = read_as(schema, value, micros=INT64, raw=decimal_of(2, 0), id=BYTES)
    assert again == {"micros": 5_000_000, "raw": 7, "id": b"\0" * 16}


def test_columns_read_unions_by_their_branches_or_as_one_type() -> None:
    schema = record(u=["int", "null", "string", "long"])
    values = [{"u": None}, *({"u": one} for one in (5, 2**40))]
    data: list[bytes | None] = [*written(schema, *values)]
    wide = plain(schema, columns(u=INT64))
    assert rows(wide, data) == [{"u": None}, {"u": 5}, {"u": 2**40}]
    parts = plain(schema, columns(u=struct_of(string=STRING, long=INT64, int=INT32)))
    assert rows(parts, data)[1] == {"u": {"string": None, "long": None, "int": 5}}


def test_one_record_may_be_asked_for_in_two_ways() -> None:
    inner = {"type": "record", "name": "I", "fields": [{"name": "x", "type": "int"}]}
    schema = record(a=inner, b="I", m={"type": "map", "values": "I"})
    value = {"a": {"x": 1}, "b": {"x": 2}, "m": {"k": {"x": 3}}}
    asked = {"a": struct_of(x=INT32), "b": struct_of(x=INT64), "m": map_of(struct_of(y=INT32))}
    assert read_as(schema, value, **asked) == {
        "a": {"x": 1},
        "b": {"x": 2},
        "m": [("k", {"y": None})],
    }


def test_a_value_that_is_no_record_is_read_as_one_column() -> None:
    assert rows(plain("int", columns(value=INT64)), [b"\x02"]) == [{"value": 1}]
    assert rows(plain(["null", "int"]), [b"\x00", b"\x02\x04"]) == [{"value": None}, {"value": 2}]


def test_a_column_that_avro_has_no_type_for_is_refused_by_name() -> None:
    schema = record(u=["int", "null", "string"], m={"type": "map", "values": "int"})
    with pytest.raises(SchemaError, match="FORMAT_SCHEMA") as caught:
        plain(schema, columns(m=map_of(INT32, INT64)))
    assert 'the column "m" has no map<int64, int32> in Avro' in caught.value.fact
    with pytest.raises(SchemaError, match="FORMAT_SCHEMA") as caught:
        plain(schema, columns(u=struct_of(int=INT64, string=STRING)))
    assert 'the column "u" has no struct<' in caught.value.fact


def test_only_columns_of_a_recursive_schema_are_read() -> None:
    schema = record(a="int", next=["null", "R"])
    with pytest.raises(SchemaError, match="AVRO_RECURSIVE"):
        plain(schema)
    data: list[bytes | None] = [*written(schema, {"a": 1, "next": {"a": 2, "next": None}})]
    assert rows(plain(schema, columns(a=INT32)), data) == [{"a": 1}]


def test_without_schema_and_subject_there_is_no_codec() -> None:
    with pytest.raises(SchemaError, match="FORMAT_SCHEMA"):
        avro_codec(Format("avro"), columns(a=INT32), None)
    with pytest.raises(SchemaError, match="FORMAT_SCHEMA"):
        avro_codec(Format("avro", subject="s"), columns(a=INT32), None)
    with pytest.raises(SchemaError, match="FORMAT_OPTION"):
        plain(PERSON, encoding="dtaum")
    with pytest.raises(SchemaError, match="FORMAT_OPTION"):
        plain(PERSON, register_all="true")


def test_values_of_a_subject_are_read_by_the_id_before_each() -> None:
    schemas = SchemasInMemory()
    old, new = (schemas.add("p-value", json.dumps(one)).id for one in (PERSON, LATER))
    codec = avro_codec(Format("avro", subject="p-value"), None, schemas)
    first = headed(old, *written(PERSON, {"name": "Ann", "age": 3}, {"name": "Bo", "age": None}))
    second = headed(new, *written(LATER, {"age": 4, "name": "Cy", "town": "there"}))
    data: list[bytes | None] = [first[0], second[0], None, first[1]]
    assert rows(codec, data) == [
        {"age": 3, "name": "Ann", "town": "here"},
        {"age": 4, "name": "Cy", "town": "there"},
        {"age": None, "name": None, "town": None},
        {"age": None, "name": "Bo", "town": "here"},
    ]
    assert rows(codec, data)[0]["name"] == "Ann"
    assert sorted(schemas.asked) == [old, new]


def test_a_value_whose_schema_is_not_to_be_had_fails_alone() -> None:
    schemas = SchemasInMemory()
    schemas.add("p-value", json.dumps(PERSON))
    schemas.add("p-value", "{}", "JSON")
    schemas.add("p-value", '{"type": "nothing"}')
    codec = avro_codec(Format("avro", subject="p-value"), columns(name=STRING), schemas)
    ann = written(PERSON, {"name": "Ann", "age": 3})
    data = [*headed(9, *ann), *headed(1, *ann), b"\0\0", b"\1\0\0\0\1x", *headed(2, b"")]
    decoded = codec.decode(pa.array([*data, *headed(3, b"")]))
    assert decoded.failures[0] == "no schema has the id 9"
    assert decoded.failures[2] == decoded.failures[3] == "it does not begin with a schema's id"
    assert decoded.failures[4] == "schema 2 is JSON, not AVRO"
    assert decoded.failures[5].startswith("schema 3: ")
    assert decoded.rows.column("name").to_pylist() == [None, "Ann", None, None, None, None]


def test_an_id_that_was_missing_is_asked_for_again() -> None:
    schemas = SchemasInMemory()
    codec = avro_codec(Format("avro", subject="p-value"), columns(name=STRING), schemas)
    data = pa.array(headed(1, *written(PERSON, {"name": "Ann", "age": 3})))
    assert codec.decode(data).failures == {0: "no schema has the id 1"}
    schemas.add("p-value", json.dumps(PERSON))
    assert codec.decode(data).failures == {}


def test_a_registry_out_of_reach_is_no_fault_of_a_value() -> None:
    class Gone(SchemasInMemory):
        @override
        def by_id(self, id: int) -> SchemaText:
            raise RegistryError("REGISTRY_UNREACHABLE", f"nobody answers about {id}")

        @override
        def version(self, subject: str, version: int | None = None) -> Json:
            raise RegistryError("REGISTRY_UNREACHABLE", f"nobody answers about {subject} {version}")

    codec = avro_codec(Format("avro", subject="p-value"), columns(name=STRING), Gone())
    with pytest.raises(RegistryError, match="REGISTRY_UNREACHABLE"):
        codec.decode(pa.array(headed(1, b"")))
    with pytest.raises(RegistryError, match="REGISTRY_UNREACHABLE"):
        codec.encode(pa.table({"name": ["x"]}))


def test_a_schema_is_read_with_those_it_refers_to() -> None:
    schemas = SchemasInMemory()
    schemas.add("inner", json.dumps({"type": "fixed", "name": "Inner", "size": 2}))
    schemas.add(
        "middle",
        json.dumps(record(x="Inner") | {"name": "Middle"}),
        references=(Reference("Inner", "inner", 1),),
    )
    text = json.dumps(record(a="Middle", b="Inner"))
    outer = schemas.add("p-value", text, references=(Reference("Middle", "middle", 1),))
    codec = avro_codec(Format("avro", subject="p-value"), None, schemas)
    data = headed(outer.id, b"abcd")
    assert rows(codec, [*data]) == [{"a": {"x": b"ab"}, "b": b"cd"}]
    assert codec.encode(codec.decode(pa.array(data)).rows).to_pylist() == data


def test_rows_are_written_with_the_last_schema_of_the_subject_that_fits() -> None:
    schemas = SchemasInMemory()
    schemas.add("p-value", json.dumps(PERSON))
    last = schemas.add("p-value", json.dumps(LATER))
    codec = avro_codec(Format("avro", subject="p-value"), columns(name=STRING, age=INT64), schemas)
    found = codec.encode(pa.table({"name": ["Ann"], "age": [3]}))
    assert found.to_pylist() == headed(last.id, b"\x02\x06\x06Ann\x08here")
    assert schemas.version("p-value") == last


def test_columns_that_no_schema_fits_are_registered_under_the_name_of_the_last() -> None:
    schemas = SchemasInMemory()
    schemas.add("p-value", json.dumps(PERSON | {"namespace": "people"}))
    codec = avro_codec(Format("avro", subject="p-value"), columns(name=STRING, x=INT32), schemas)
    rows_ = pa.table({"name": ["Ann"], "x": pa.array([1], pa.int32())})
    assert codec.encode(rows_)[0].as_py().startswith(b"\0\0\0\0\2")
    added = schemas.version("p-value").schema.text
    assert parsed(json.loads(added)).types.keys() == {"people.R"}


@pytest.mark.parametrize(
    ("subject", "name"), [("my-orders-value", "my_orders"), ("9-key", "_9"), ("-", "_")]
)
def test_the_first_schema_of_a_subject_is_called_by_its_topic(subject: str, name: str) -> None:
    schemas = SchemasInMemory()
    codec = avro_codec(Format("avro", subject=subject), columns(a=STRING), schemas)
    codec.encode(pa.table({"a": ["x"]}))
    assert json.loads(schemas.version(subject).schema.text)["name"] == name


def test_a_schema_that_is_named_is_registered_or_only_looked_up() -> None:
    schemas = SchemasInMemory()
    format_ = Format("avro", subject="p-value", written=json.dumps(PERSON))
    table = pa.table({"name": ["Ann"], "age": pa.array([3], pa.int32())})
    only = avro_codec(format_.with_options(register="false"), None, schemas)
    with pytest.raises(KeyError):
        only.encode(table)
    found = avro_codec(format_, None, schemas).encode(table)
    assert found.to_pylist() == headed(1, b"\x06Ann\x02\x06")
    assert only.encode(table).to_pylist() == found.to_pylist()


def test_a_subject_without_versions_says_no_columns() -> None:
    with pytest.raises(RegistryError, match="SUBJECT_MISSING"):
        avro_codec(Format("avro", subject="p-value"), None, SchemasInMemory())


def test_single_objects_begin_with_the_fingerprint_of_their_schema() -> None:
    codec = plain(PERSON, encoding="single_object")
    value = {"name": "Ann", "age": 3}
    table = pa.table({"name": ["Ann"], "age": pa.array([3], pa.int32())})
    found = codec.encode(table).to_pylist()
    schema = parsed(PERSON)
    assert read_single_object(found[0], {fingerprint(schema): schema}) == value
    decoded = codec.decode(pa.array([found[0], found[0][:9], b"\xc3\x01" + found[0][3:], None]))
    assert decoded.rows.to_pylist()[0] == value
    assert list(decoded.failures) == [1, 2]
    assert "its schema's fingerprint" in decoded.failures[1]


def test_messages_that_carry_their_schema_are_read_by_it() -> None:
    codec = plain(LATER, encoding="embedded")
    own = [embed(parsed(LATER), {"age": at, "name": "A", "town": "t"}) for at in range(3)]
    other = [embed(parsed(PERSON), {"name": f"B{at}", "age": None}) for at in range(3)]
    small = [container_bytes(parsed(PERSON), [{"name": "C", "age": 1}], codec="deflate")]
    data: list[bytes | None] = [own[0], other[0], None, own[1], small[0], other[1], own[2]]
    found = rows(codec, data)
    assert [row["name"] for row in found] == ["A", "B0", None, "A", "C", "B1", "A"]
    assert [row["age"] for row in found] == [0, None, None, 1, 1, None, 2]


def test_messages_with_many_kinds_of_schemas_are_read() -> None:
    codec = avro_codec(Format("avro").with_options(encoding="embedded"), columns(a=INT32), None)
    kinds = [{**record(a="int"), "name": f"R{at}"} for at in range(20)]
    data = [embed(parsed(kind), {"a": at}) for at, kind in enumerate(kinds)]
    assert [row["a"] for row in rows(codec, [*data, *data])] == [*range(20)] * 2


def test_a_message_that_is_cut_or_not_alone_fails() -> None:
    codec = plain(PERSON, encoding="embedded")
    value = {"name": "Ann", "age": 3}
    schema = parsed(PERSON)
    whole = embed(schema, value)
    broken = bytearray(whole)
    broken[-1] ^= 1
    data = [b"", b"Obj\1", whole[:-1], whole, bytes(broken), embed(schema, value, value)]
    data += [embed(schema), embed(parsed("int"), 5), whole]
    decoded = codec.decode(pa.array(data))
    assert sorted(decoded.failures) == [0, 1, 2, 4, 5, 6, 7]
    assert decoded.rows.column("name").to_pylist()[8] == "Ann"
    assert decoded.failures[5] == "a message holds 2 values, not one"


def test_messages_are_written_with_their_schema() -> None:
    codec = plain(PERSON, encoding="embedded")
    table = pa.table({"name": ["Ann", "B" * 100], "age": pa.array([3, None], pa.int32())})
    found = codec.encode(table).to_pylist()
    assert [embedded_values(one) for one in found] == [[row] for row in table.to_pylist()]
    assert found[0] == embed(parsed(PERSON), {"name": "Ann", "age": 3})
    assert rows(codec, [*found]) == table.to_pylist()
