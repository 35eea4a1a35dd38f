"""The rules of Confluent's registry, each with a case of our own."""

from __future__ import annotations

import pytest

from penstock.schema.language import SchemaSource
from penstock.schema.protobuf.compatibility import breaking_changes, differences
from penstock.schema.protobuf.file import ProtobufFile, protobuf_file


def parsed(text: str, *references: tuple[str, str], syntax: str = "proto3") -> ProtobufFile:
    return protobuf_file(SchemaSource(f'syntax = "{syntax}"; {text}', references))


# One line a case, however long.
# ruff: noqa: E501
COMPATIBLE = [
    ("message M { string a = 1; }", "message M { string a = 1; string b = 2; }"),
    ("message M { string a = 1; string b = 2; }", "message M { string a = 1; }"),
    ("message M { string a = 1; }", "message M { string b = 1; }"),
    ("message M { int32 a = 1; }", "message M { uint64 a = 1; }"),
    ("message M { bool a = 1; }", "message M { E a = 1; } enum E { A = 0; }"),
    ("message M { sint32 a = 1; fixed32 b = 2; }", "message M { sint64 a = 1; sfixed32 b = 2; }"),
    ("message M { string a = 1; }", "message M { repeated bytes a = 1; }"),
    ("message M { N a = 1; } message N {}", "message M { repeated N a = 1; } message N {}"),
    ("message M { string a = 1; }", "message N {} message M { string a = 1; }"),
    ("package a; message M { M x = 1; }", "package b; message M { M x = 1; }"),
    ("message M { string a = 1; }", "message M { oneof o { string a = 1; int32 b = 2; } }"),
    ("message M { oneof o { string a = 1; } }", "message M { oneof o { string a = 1; bool b = 2; } }"),
    ("message M { oneof o { string a = 1; bool b = 2; } }", "message M { string a = 1; bool b = 2; }"),
    ("message M {} enum E { A = 0; B = 1; }", "message M {} enum E { A = 0; C = 2; }"),
    ("message M { map<string, int32> m = 1; }", "message M { map<string, int64> m = 1; }"),
]  # fmt: skip

INCOMPATIBLE = [
    ("message M { int32 a = 1; }", "message M { sint32 a = 1; }",
     "message M: field a = 1 was int32 and is sint32"),
    ("message M { int32 a = 1; }", "message M { string b = 1; }",
     "message M: field b = 1 was int32 and is string"),
    ("message M { float a = 1; }", "message M { double a = 1; }",
     "message M: field a = 1 was float and is double"),
    ("message M { int32 a = 1; }", "message M { N a = 1; } message N {}",
     "message M: field a = 1 was int32 and is N"),
    ("message M { N a = 1; } message N {}", "message M { O a = 1; } message O {}",
     "message M: field a = 1 was N and is O"),
    ("message M { int32 a = 1; }", "message M { repeated int32 a = 1; }",
     "message M: field a = 1 is repeated"),
    ("message M {} message N {}", "message M {}", "message N: the reader has not got this message"),
    ("message M { message N { int32 a = 1; } }", "message M { message N { string a = 1; } }",
     "message M.N: field a = 1 was int32 and is string"),
    ("message M { map<string, int32> m = 1; }", "message M { map<string, string> m = 1; }",
     "message M: the value of field m = 1 was int32 and is string"),
    ("message M { map<string, int32> m = 1; }", "message M { string m = 1; }",
     "message M: field m = 1 was map<string, int32> and is string"),
    ("message M { string a = 1; string b = 2; }", "message M { oneof o { string a = 1; string b = 2; } }",
     'message M: field a = 1, field b = 2 could be set at once, and are now branches of the oneof "o"'),
    ("message M { oneof o { string a = 1; string b = 2; } }", "message M { oneof o { string a = 1; } }",
     'message M: field b = 2 left the oneof "o" and is gone'),
    ("message M { string z = 9; oneof o { string a = 1; } }", "message M { oneof o { string a = 1; string z = 9; } }",
     'message M: field z = 9 moved into the oneof "o", whose other branches were there before'),
    ("message M { oneof o { int32 a = 1; } }", "message M { oneof p { string a = 1; } }",
     "message M: field a = 1 was int32 and is string"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), COMPATIBLE)
def test_what_readers_can_bear(before: str, after: str) -> None:
    assert breaking_changes(parsed(before), parsed(after)) == ()


@pytest.mark.parametrize(("before", "after", "why"), INCOMPATIBLE)
def test_what_breaks_readers_and_why(before: str, after: str, why: str) -> None:
    assert why in breaking_changes(parsed(before), parsed(after))


def test_required_fields_may_neither_come_nor_go() -> None:
    without = parsed("message M { optional string a = 1; }", syntax="proto2")
    required = parsed(
        "message M { optional string a = 1; required string b = 2; }", syntax="proto2"
    )
    stricter = parsed("message M { required string a = 1; }", syntax="proto2")
    assert breaking_changes(without, required) == ("message M: required field b = 2 is new",)
    assert breaking_changes(required, without) == ("message M: required field b = 2 is gone",)
    assert breaking_changes(without, stricter) == ("message M: field a = 1 is required now",)
    assert breaking_changes(stricter, without) == ()


def test_all_differences_are_told() -> None:
    before = parsed(
        "package a; message M { string a = 1; oneof o { int32 c = 3; } } enum E { A = 0; }"
    )
    after = parsed("package b; enum F { A = 0; } message N {} message M { string b = 1; }")
    assert [one.kind for one in differences(before, after)] == [
        "package changed",
        "oneof removed",
        "field renamed",
        "message moved",
        "message added",
        "enum removed",
        "enum added",
    ]
    symbols = parsed("enum E { B = 0; C = 1; }"), parsed("enum E { A = 0; D = 2; }")
    assert [one.kind for one in differences(*symbols)] == [
        "symbol renamed",
        "symbol removed",
        "symbol added",
    ]
    more = (
        parsed("message M { oneof o { int32 a = 1; } }"),
        parsed("message M { oneof o { int32 a = 1; int32 b = 2; } }"),
    )
    assert [one.kind for one in differences(*more)] == ["oneof field added"]


def test_a_type_of_another_file_is_compared_wherever_it_is_defined() -> None:
    def with_import(field: str, package: str) -> ProtobufFile:
        file = ("g.proto", f"package {package}; message G {{ optional {field} a = 1; }}")
        return parsed(f'import "g.proto"; message M {{ {package}.G g = 1; }}', file)

    one = with_import("int32", "x")
    assert breaking_changes(one, with_import("int64", "y")) == ()
    assert breaking_changes(one, with_import("string", "y")) == (
        "message G: field a = 1 was int32 and is string",
        "message M: field g = 1 is a y.G that cannot read the earlier one",
    )
    inline = parsed("message M { G g = 1; } message G { optional int32 a = 1; }")
    assert breaking_changes(one, inline) == ()
    assert breaking_changes(inline, one) == ("message G: the reader has not got this message",)


def test_a_message_that_holds_itself_is_compared_to_the_end() -> None:
    one = parsed("message M { M next = 1; map<string, M> all = 2; int32 v = 3; }")
    other = parsed("message M { M next = 1; map<string, M> all = 2; string v = 3; }")
    assert breaking_changes(one, one) == ()
    assert breaking_changes(one, other) == ("message M: field v = 3 was int32 and is string",)
