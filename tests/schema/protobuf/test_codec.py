from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from penstock.errors import SchemaError
from penstock.schema.arrow import to_arrow
from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.port import Codec
from penstock.schema.codec.schemas import Reference
from penstock.schema.schema import Field, Schema
from penstock.schema.schema_id import header_of
from penstock.schema.types import INT64, STRING
from tests.schema.schemas_in_memory import SchemasInMemory

ORDER = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/empty.proto";
enum Status { NEW = 0; PAID = 1; }
message Order {
  message Line { int32 n = 1; repeated string tags = 2; }
  int64 id = 1;
  string name = 2;
  optional double price = 3;
  Status status = 4;
  repeated int32 numbers = 5;
  map<string, int64> counts = 6;
  map<int32, Line> by_number = 7;
  Line first = 8;
  repeated Line lines = 9;
  google.protobuf.Timestamp at = 10;
  google.protobuf.StringValue note = 11;
  google.protobuf.Struct extra = 12;
  oneof pay { string card = 13; bool cash = 14; google.protobuf.Empty free = 15; }
  uint64 big = 16;
  bytes raw = 17;
  float rate = 18;
  repeated google.protobuf.Timestamp times = 19;
  map<bool, Status> flags = 20;
  google.protobuf.UInt64Value large = 21;
}
message Other { string x = 1; }
"""
FULL: dict[str, Any] = {
    "id": 1,
    "name": "é",
    "price": 0.0,
    "status": "PAID",
    "numbers": [1, 2],
    "counts": [("a", 1)],
    "by_number": [("5", {"n": 1, "tags": ["x"]})],
    "first": {"n": 0, "tags": []},
    "lines": [{"n": 3, "tags": []}],
    "at": -1,
    "note": "",
    "extra": '{"q": [1.0, null]}',
    "card": None,
    "cash": None,
    "free": True,
    "big": 2**63 - 1,
    "raw": b"\xff",
    "rate": 0.5,
    "times": [1, 1_700_000_000_123],
    "flags": [("true", "PAID")],
    "large": 7,
}
EMPTY: dict[str, Any] = {
    **dict.fromkeys(FULL),
    "id": 0,
    "name": "",
    "status": "NEW",
    "big": 0,
    "raw": b"",
    "rate": 0.0,
    **{name: [] for name in ("numbers", "counts", "by_number", "lines", "times", "flags")},
}


def codec(text: str = ORDER, **options: str) -> Codec:
    return codec_of(Format("protobuf", written=text).with_options(**options), None)


def table(subject: Codec, *rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=to_arrow(subject.schema))


def small(fields: str, syntax: str = "proto3") -> Codec:
    return codec(f'syntax = "{syntax}"; message M {{ {fields} }}')


def test_rows_come_back_as_they_were_written() -> None:
    subject = codec()
    found = subject.decode(subject.encode(table(subject, FULL, {})))
    assert found.failures == {}
    assert found.rows.equals(table(subject, FULL, EMPTY))


def test_null_is_told_from_a_default_only_where_the_schema_keeps_presence() -> None:
    subject = small("int32 plain = 1; optional int32 kept = 2;")
    rows = table(subject, {"plain": None, "kept": None}, {"plain": 0, "kept": 0})
    assert subject.encode(rows).to_pylist() == [b"", b"\x10\x00"]
    assert subject.decode(subject.encode(rows)).rows.to_pylist() == [
        {"plain": 0, "kept": None},
        {"plain": 0, "kept": 0},
    ]


def test_what_cannot_be_read_is_a_failure_with_its_reason() -> None:
    subject = codec()
    header = header_of(1)
    values = pa.array(
        [
            *(None, b"", b"\xff"),
            *(header + rest for rest in (b"\0", b"\x02\x02", b"\x02\x09", b"")),
            b"\0\0",
        ],
        pa.binary(),
    )
    found = subject.decode(values)
    assert found.failures == {
        2: "no message can be read: Error parsing message with type 'shop.Order': "
        "Wire format was corrupt",
        4: "it is a shop.Other, not a shop.Order",
        5: "it does not say which message it is",
        6: "it does not say which message it is",
        7: "no message can be read: Error parsing message with type 'shop.Order': "
        "Wire format was corrupt",
    }
    assert found.rows.column("id").to_pylist() == [None, 0, None, 0, None, None, None, None]


@pytest.mark.parametrize(
    ("fields", "body", "why"),
    [
        ("uint64 a = 1;", b"\x08" + b"\xff" * 9 + b"\x01", "more than an int64 can hold"),
        ("repeated fixed64 a = 1;", b"\x0a\x08" + b"\xff" * 8, "more than an int64 can hold"),
        ("map<string, uint64> a = 1;", b"\x0a\x0d\x0a\x00\x10" + b"\xff" * 9 + b"\x01", "int64"),
    ],
)
def test_a_value_that_no_column_holds_is_a_failure_of_its_row(
    fields: str, body: bytes, why: str
) -> None:
    subject = small(fields + " int32 other = 2;")
    found = subject.decode(pa.array([b"\x10\x05", body + b"\x10\x05"], pa.binary()))
    assert list(found.failures) == [1]
    assert found.failures[1].startswith('column "a": ')
    assert why in found.failures[1]
    assert found.rows.column("other").to_pylist() == [5, None]


def test_a_moment_out_of_range_and_a_struct_that_is_no_json_are_failures() -> None:
    text = (
        'syntax = "proto3"; import "google/protobuf/timestamp.proto";'
        'import "google/protobuf/struct.proto";'
        "message M { google.protobuf.Timestamp at = 1; google.protobuf.Value any = 2; }"
    )
    late = b"\x0a\x0a\x08" + b"\xff" * 8 + b"\x7f"
    infinite = b"\x12\x09\x11" + b"\0" * 6 + b"\xf0\x7f"
    found = codec(text).decode(pa.array([late, infinite], pa.binary()))
    assert "are no timestamp" in found.failures[0]
    assert 'column "any": ' in found.failures[1]


def test_a_symbol_that_only_the_writer_knows_is_told_by_its_number() -> None:
    subject = codec()
    found = subject.decode(pa.array([b"\x20\x07"], pa.binary()))
    assert found.rows.column("status").to_pylist() == ["7"]
    assert subject.encode(found.rows).to_pylist() == [b"\x20\x07"]


@pytest.mark.parametrize(
    ("fields", "row", "why"),
    [
        ("uint32 a = 1;", {"a": -1}, 'row 1, column "a": '),
        ("repeated int32 a = 1;", {"a": [1, None]}, "null has no place in a list"),
        ("map<string, string> a = 1;", {"a": [("x", None)]}, "null has no place"),
        ("map<int32, string> a = 1;", {"a": [("x", "y")]}, 'column "a": '),
        ("map<bool, string> a = 1;", {"a": [("yes", "y")]}, 'column "a": '),
        ("enum E { A = 0; } E a = 1;", {"a": "B"}, '"B" is no symbol of E'),
        ("message N { int32 x = 1; } repeated N a = 1;", {"a": [None]}, "null has no place"),
        ("oneof o { int32 a = 1; int32 b = 2; }", {"a": 1, "b": 2}, '"o" holds "a" already'),
        ("message N {} N a = 1;", {"a": False}, "true or null"),
    ],
)
def test_a_row_that_protobuf_cannot_hold_is_refused(
    fields: str, row: dict[str, Any], why: str
) -> None:
    subject = small(fields)
    with pytest.raises(SchemaError) as caught:
        subject.encode(table(subject, {}, row))
    assert caught.value.code == "VALUE_ENCODE"
    assert "row 1" in caught.value.fact
    assert why in caught.value.fact


def test_a_required_field_that_is_null_is_refused() -> None:
    subject = small("required int32 a = 1;", "proto2")
    with pytest.raises(SchemaError, match='row 0, column "a": it is required'):
        subject.encode(table(subject, {}))


def test_the_message_is_chosen_by_name() -> None:
    subject = codec(message="Order.Line")
    assert str(subject.schema) == "n int32, tags array<string>"
    with pytest.raises(SchemaError, match='no message "Ordre"'):
        codec(message="Ordre")


def evolving() -> SchemasInMemory:
    schemas = SchemasInMemory()
    one = 'syntax = "proto3"; package a; message M { int32 x = 1; string gone = 2; }'
    two = 'syntax = "proto3"; package b; message First {} message M { int64 x = 1; string y = 3; }'
    schemas.add("m-value", one, "PROTOBUF")
    schemas.add("m-value", two, "PROTOBUF")
    schemas.add("other", '"string"')
    return schemas


def test_every_version_is_read_with_the_last_one() -> None:
    schemas = evolving()
    subject = codec_of(
        Format("protobuf", subject="m-value").with_options(message="M"), None, schemas
    )
    values = pa.array(
        [
            header_of(1) + b"\0\x08\x05\x12\x01z",
            header_of(2) + b"\x02\x02\x08\x06\x1a\x01w",
            header_of(2) + b"\0",
            header_of(3) + b"\0",
            header_of(9) + b"\0",
            b"\x08\x05",
        ],
        pa.binary(),
    )
    found = subject.decode(values)
    assert found.rows.to_pylist()[:2] == [{"x": 5, "y": ""}, {"x": 6, "y": "w"}]
    assert found.failures == {
        2: "it is a b.First, not a b.M",
        3: "schema 3 is AVRO, not PROTOBUF",
        4: "no schema has the id 9",
        5: "it does not begin with a schema's id",
    }
    assert subject.encode(found.rows.slice(1, 1)).to_pylist() == values.to_pylist()[1:2]


def test_columns_of_ones_own_are_taken_by_name_and_type() -> None:
    wanted = Format("protobuf", written=ORDER)
    subject = codec_of(wanted, Schema((Field("later", STRING), Field("id", INT64))))
    assert subject.decode(pa.array([b"\x08\x05"], pa.binary())).rows.to_pylist() == [
        {"later": None, "id": 5}
    ]
    assert subject.encode(pa.table({"later": ["x"], "id": [5]})).to_pylist() == [b"\x08\x05"]
    with pytest.raises(SchemaError, match='column "id" is string, and int64') as caught:
        codec_of(wanted, Schema((Field("id", STRING),)))
    assert caught.value.code == "FORMAT_SCHEMA"
    with pytest.raises(SchemaError, match="has none of the columns"):
        codec_of(wanted, Schema((Field("ID", INT64),)))


def test_references_are_followed() -> None:
    schemas = SchemasInMemory()
    schemas.add("address", 'syntax = "proto3"; message Address { string city = 1; }', "PROTOBUF")
    text = 'syntax = "proto3"; import "address.proto"; message M { Address to = 1; }'
    schemas.add("m", text, "PROTOBUF", (Reference("address.proto", "address", 1),))
    subject = codec_of(Format("protobuf", subject="m"), None, schemas)
    assert str(subject.schema) == "to struct<city: string>"
    rows = table(subject, {"to": {"city": "x"}})
    assert subject.decode(subject.encode(rows)).rows.equals(rows)


def test_a_format_that_says_too_little_is_refused() -> None:
    with pytest.raises(SchemaError, match="FORMAT_SCHEMA"):
        codec_of(Format("protobuf"), None)
