from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.schema.codec.kit import codec, decode, read, reason, written


@pytest.mark.parametrize(
    ("name", "value", "bytes_"),
    [
        ("int", -2, b"\xff\xff\xff\xfe"),
        ("long", 258, b"\0\0\0\0\0\0\1\2"),
        ("double", 1.5, b"\x3f\xf8\0\0\0\0\0\0"),
        ("boolean", True, b"\1"),
        ("boolean", False, b"\0"),
        ("string", "é", b"\xc3\xa9"),
        ("string", "", b""),
        ("bytes", b"\xff", b"\xff"),
    ],
)
def test_values_are_written_as_kafka_s_serializers_write_them(
    name: str, value: object, bytes_: bytes
) -> None:
    reader = codec(name)
    assert written(reader, [{"value": value}, {"value": None}]) == [bytes_, None]
    assert read(reader, bytes_, None) == [{"value": value}, {"value": None}]


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("int", b"\0" * 3, "3 bytes, where 4 are expected"),
        ("long", b"", "0 bytes, where 8 are expected"),
        ("double", b"\0" * 9, "9 bytes, where 8 are expected"),
        ("boolean", b"\2", "byte 2, where 0 or 1 is expected"),
        ("boolean", b"\0\0", "2 bytes, where 1 are expected"),
        ("string", b"ab\xff", "byte 2 is not UTF-8"),
        ("string", b"\xed\xa0\x80", "byte 0 is not UTF-8"),
    ],
)
def test_a_value_that_is_none_is_a_failure(name: str, value: bytes, why: str) -> None:
    assert reason(codec(name), value) == why


def test_a_failure_leaves_the_values_around_it_alone() -> None:
    found = decode(codec("int"), b"\0\0\0\1", b"x", None, b"\0\0\0\2", b"")
    assert found.rows["value"].to_pylist() == [1, None, None, 2, None]
    assert sorted(found.failures) == [1, 4]
    found = decode(codec("string"), "é", b"\xff", None, "ä")
    assert found.rows["value"].to_pylist() == ["é", None, None, "ä"]
    assert sorted(found.failures) == [1]


def test_the_column_may_have_any_name() -> None:
    assert read(codec("string", {"line": "string"}), "a") == [{"line": "a"}]


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)))
def test_longs_come_back(values: list[int | None]) -> None:
    rows = [{"value": value} for value in values]
    bytes_ = written(codec("long"), rows)
    assert bytes_ == [None if value is None else struct.pack(">q", value) for value in values]
    assert read(codec("long"), *bytes_) == rows
