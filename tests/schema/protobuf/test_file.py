from __future__ import annotations

import base64

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from penstock.errors import SchemaError
from penstock.schema.language import SchemaSource
from penstock.schema.protobuf.file import ProtobufFile, protobuf_file
from penstock.schema.protobuf.language import PROTOBUF

FULL = r"""
syntax = "proto3";
package shop.orders; // comments are not kept
import "google/protobuf/timestamp.proto";
import public "confluent/meta.proto";
option java_package = "com.shop";
option (confluent.file_meta).doc = "say \"é\"";
message Order {
  option (confluent.message_meta) = { doc: "x" params: [{key: "a", value: "b"}] };
  message Line { int32 n = 1; .shop.orders.Order whole = 2; Line own = 3; Kind kind = 4; }
  enum Kind { option allow_alias = true; NONE = 0; OLD = -1 [deprecated = true]; NO = 0;
    reserved 5; }
  reserved 2, 4 to 6, 900 to max;
  reserved "gone";
  oneof pay { string card = 1 [deprecated = true, json_name = "theCard"]; bool cash = 9; }
  optional int32 count = 3;
  map<string, Line> lines = 7;
  repeated Line more = 8 [packed = false];
  google.protobuf.Timestamp at = 20;
  Kind kind = 22;
}
service Shop { rpc Buy(Order) returns (stream Order) { option deprecated = true; }
  rpc Ask(stream Order) returns (Order); }
"""
OLD = r"""
syntax = "proto2";
message Outer {
  optional group Part = 1 { optional int32 x = 1; }
  optional double d = 4 [default = -inf];
  optional string s = 5 [default = "a\"b\001é"];
  optional bool b = 6 [default = true];
  required bytes raw = 7 [default = "\xff\000a"];
  optional E e = 9 [default = B];
  enum E { A = 0; B = 1; }
  oneof x { group Branch = 20 { optional string a = 1; } int32 y = 21; }
  extensions 100 to 199;
  message Nested { map<int32, string> m = 1; message After {} }
}
extend Outer { optional string more = 101; repeated group Extra = 102 { optional int32 z = 1; } }
"""
EDITION = """
edition = "2023";
option features.field_presence = IMPLICIT;
message A { int32 x = 1 [features.field_presence = EXPLICIT]; string y = 2; }
"""


def parsed(text: str, *references: tuple[str, str]) -> ProtobufFile:
    return protobuf_file(SchemaSource(text, references))


@pytest.mark.parametrize(
    "text", [FULL, OLD, EDITION, 'import "google/type/date.proto"; message A {}']
)
def test_a_file_is_the_same_as_text_and_as_a_descriptor(text: str) -> None:
    written = PROTOBUF.canonical(SchemaSource(text))
    assert parsed(written).proto == parsed(text).proto
    assert PROTOBUF.canonical(SchemaSource(written)) == written
    serialized = PROTOBUF.formatted(SchemaSource(text), "serialized")
    assert PROTOBUF.canonical(SchemaSource(serialized)) == written
    assert FileDescriptorProto.FromString(base64.b64decode(serialized)) == parsed(text).proto


def test_the_text_that_is_kept_reads_well() -> None:
    source = SchemaSource(FULL)
    assert PROTOBUF.canonical(source).splitlines()[:12] == [
        'syntax = "proto3";',
        "package shop.orders;",
        "",
        'import "google/protobuf/timestamp.proto";',
        'import public "confluent/meta.proto";',
        "",
        'option java_package = "com.shop";',
        'option (confluent.file_meta).doc = "say \\"é\\"";',
        "",
        "message Order {",
        '  option (confluent.message_meta) = { doc: "x" params: [{ key: "a" value: "b" }] };',
        "  reserved 2;",
    ]
    assert "confluent.file_meta" not in PROTOBUF.formatted(source, "ignore_extensions")
    assert PROTOBUF.formatted(source, "") == PROTOBUF.canonical(source)
    assert PROTOBUF.type == "PROTOBUF"


def test_white_space_and_comments_do_not_make_another_schema() -> None:
    one = 'syntax="proto3";message A{/* x */string a=1;int32 b=2;}'
    other = 'syntax = "proto3";\nmessage A {\n  int32 b = 2; // y\n  string a = 1;\n}'
    assert PROTOBUF.canonical(SchemaSource(one)) != PROTOBUF.canonical(SchemaSource(other))
    assert PROTOBUF.normalized(SchemaSource(one)) == PROTOBUF.normalized(SchemaSource(other))


def test_an_order_that_values_depend_on_is_kept_even_when_normalized() -> None:
    text = """syntax = "proto3";
      message B { message Z {} map<string, Z> m = 2; message Y {} int32 a = 1; } message A {}"""
    found = parsed(PROTOBUF.normalized(SchemaSource(text)))
    assert [message.name for message in found.messages()] == ["B", "A"]
    assert [inner.name for inner in found.messages()[0].nested_types] == ["Z", "MEntry", "Y"]


def test_imports_are_references_or_well_known() -> None:
    address = (
        "address.proto",
        'syntax = "proto3"; package a; message Address { string city = 1; }',
    )
    person = (
        "person.proto",
        'import "address.proto"; message Person { optional a.Address at = 1; }',
    )
    text = 'import "person.proto"; message Order { optional Person who = 1; }'
    serialized = PROTOBUF.formatted(SchemaSource(*address[1:]), "serialized")
    for first in (address, ("address.proto", serialized)):
        order = parsed(text, first, person).message()
        assert (
            order.fields_by_name["who"].message_type.fields[0].message_type.full_name == "a.Address"
        )


def test_messages_are_found_by_name() -> None:
    file = parsed(FULL)
    assert file.message().full_name == "shop.orders.Order"
    assert file.message("Order.Line").full_name == "shop.orders.Order.Line"
    assert file.message("shop.orders.Order").name == "Order"
    with pytest.raises(SchemaError, match='no message "Ordr"') as caught:
        file.message("Ordr")
    assert caught.value.hint == 'Did you mean "shop.orders.Order"?'
    with pytest.raises(SchemaError, match="defines no message"):
        parsed("enum E { A = 0; }").message()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ("hello", "line 1, column 1"),
        ('syntax = "proto3";\nmessage A { string x 1; }', "line 2, column 22: missing '=' at '1'"),
        ('syntax = "proto4";', "neither proto2 nor proto3"),
        ('edition = "1999";', 'no edition "1999"'),
        ('syntax = "proto3"; message A { string x = 1; string y = 1; }', "duplicate field number"),
        ('syntax = "proto3"; message A {} message A {}', "duplicate symbol"),
        ("message A { optional B x = 1; }", "couldn't resolve name 'B'"),
        ("message A { optional string x = 1 [nothing = 1]; }", 'no option "nothing"'),
        ("message A { optional string x = 1 [deprecated = 7.5]; }", 'option "deprecated"'),
        ("option optimize_for = QUICK; message A {}", 'option "optimize_for"'),
        ('import "b.proto"; message A {}', 'imports "b.proto"'),
        ("message A { optional int32 x = 99999999999; }", "the number of"),
        ("message A {" * 1000 + "}" * 1000, "nested too deeply"),
        (base64.b64encode(b"\x0a\x00").decode(), "line 1"),
    ],
)
def test_what_is_no_schema_is_refused_with_its_place(text: str, why: str) -> None:
    with pytest.raises(SchemaError) as caught:
        PROTOBUF.canonical(SchemaSource(text))
    assert caught.value.code == "SCHEMA_TEXT"
    assert why in caught.value.fact


def test_a_descriptor_whose_names_are_no_text_is_refused() -> None:
    found = FileDescriptorProto(name="a.proto")
    found.message_type.add(name="Name")
    serialized = found.SerializeToString().replace(b"Name", b"N\xffme")
    with pytest.raises(SchemaError, match="not UTF-8"):
        parsed(base64.b64encode(serialized).decode())


def test_files_that_import_one_another_are_refused() -> None:
    one = ("a.proto", 'import "b.proto";')
    other = ("b.proto", 'import "a.proto";')
    with pytest.raises(SchemaError, match=r"a\.proto imports b\.proto imports a\.proto"):
        parsed('import "a.proto"; message A {}', one, other)
