from __future__ import annotations

import io

import pytest
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer

from penstock.schema.language import SchemaSource
from penstock.schema.protobuf.file import protobuf_file
from penstock.schema.protobuf.wire import indexes_of, message_at, read_indexes, write_indexes

NESTED = 'syntax = "proto3"; message A {} message B { message C {} message D { message E {} } }'


@pytest.mark.parametrize("way", [(0,), (1,), (63,), (64,), (0, 0), (1, 0), (2, 1, 300), (9999,)])
def test_indexes_are_written_as_the_real_client_writes_them(way: tuple[int, ...]) -> None:
    theirs = io.BytesIO()
    ProtobufSerializer._encode_varints(theirs, list(way))
    assert write_indexes(way) == theirs.getvalue()
    assert read_indexes(theirs.getvalue() + b"rest") == (way, len(theirs.getvalue()))


@pytest.mark.parametrize(
    "damaged",
    [b"", b"\x80", b"\x04\x00", b"\x01", b"\x03", b"\xff" * 11, b"\xfe\x01", b"\x02\x01"],
)
def test_what_are_no_indexes_is_said(damaged: bytes) -> None:
    assert read_indexes(damaged) is None


@pytest.mark.parametrize(
    ("name", "way"), [("A", (0,)), ("B", (1,)), ("B.C", (1, 0)), ("B.D.E", (1, 1, 0))]
)
def test_a_message_has_one_way_to_it(name: str, way: tuple[int, ...]) -> None:
    file = protobuf_file(SchemaSource(NESTED))
    assert indexes_of(file.message(name)) == way
    found = message_at(file, way)
    assert found is not None
    assert found.full_name == name


@pytest.mark.parametrize("way", [(2,), (0, 0), (1, 2), (1, 1, 0, 0)])
def test_a_way_that_leads_nowhere_has_no_message(way: tuple[int, ...]) -> None:
    assert message_at(protobuf_file(SchemaSource(NESTED)), way) is None
